// Features of click-through models and of text (1.x): add_position_encoding, cvm, filter_by_instag,
// hash, similarity_focus. Sources: operators of the same names of the framework; position encoding:
// Vaswani et al., "Attention is all you need", 2017; similarity focus: He, Lin, "Pairwise word
// interaction modeling", 2016.
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <vector>

#include "runtime/kernels/cpu/ops/embedding/calls.h"

namespace dtranspile::kernels {
namespace {

// Offsets of the sequences of a LoD tensor (its first level), or of its rows.
std::vector<int64_t> SequenceOffsets(const DtBuffer& x) {
  const Lod& lod = OpCall::LodOf(x);
  if (!lod.empty()) return {lod[0].begin(), lod[0].end()};
  std::vector<int64_t> rows(static_cast<size_t>(x.rank == 0 ? 1 : x.dims[0] + 1));
  std::iota(rows.begin(), rows.end(), int64_t{0});
  return rows;
}

// A LoD comes from feeds too: what indexes rows is checked first.
bool OffsetsFit(OpCall& call, const DtBuffer& x, const std::vector<int64_t>& offsets) {
  const int64_t rows = x.rank == 0 ? 0 : x.dims[0];
  const bool fits = !offsets.empty() && offsets.front() == 0 && offsets.back() == rows &&
                    std::is_sorted(offsets.begin(), offsets.end());
  return fits || (call.Fail("the LoD of '%s' does not cover its %lld rows", x.name,
                            static_cast<long long>(rows)),
                  false);
}

}  // namespace

// X; alpha, beta -> Out: alpha · X + beta · (sines of the place in the first half of the columns,
// cosines in the second)
int32_t AddPositionEncoding(OpCall& call) {
  using A = args::dt_add_position_encoding;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  const bool ragged = !OpCall::LodOf(x).empty();
  if (x.rank != (ragged ? 2 : 3))
    return call.Fail(
        "'%s' has %d dims, expected [batch, places, columns], or [rows, columns] with LoD", x.name,
        x.rank);
  const int64_t width = x.dims[x.rank - 1], half = width / 2;
  if (width % 2 != 0)
    return call.Fail("'%s' has %lld columns, expected an even number", x.name,
                     static_cast<long long>(width));
  std::vector<int64_t> offsets;
  if (ragged) offsets = SequenceOffsets(x);
  else
    for (int64_t i = 0; i <= x.dims[0]; ++i) offsets.push_back(i * x.dims[1]);
  if (ragged && !OffsetsFit(call, x, offsets)) return 1;
  const Lod lod = OpCall::LodOf(x);
  if (!call.Resize(out, x)) return 1;
  OpCall::SetLod(out, lod);
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const auto alpha = static_cast<T>(call.Real(A::alpha)),
               beta = static_cast<T>(call.Real(A::beta));
    for (size_t s = 0; s + 1 < offsets.size(); ++s)
      for (int64_t row = offsets[s]; row < offsets[s + 1]; ++row)
        for (int64_t k = 0; k < half; ++k) {
          const double scale =
              half > 1 ? std::pow(10000.0, static_cast<double>(k) / static_cast<double>(half - 1))
                       : 10000.0;
          const auto angle = static_cast<T>(static_cast<double>(row - offsets[s]) / scale);
          const int64_t at = row * width + k;
          Data<T>(out)[at] = Data<T>(x)[at] * alpha + std::sin(angle) * beta;
          Data<T>(out)[at + half] = Data<T>(x)[at + half] * alpha + std::cos(angle) * beta;
        }
    return 0;
  });
}

namespace {

constexpr int64_t kShowAndClick = 2;

// Click-value models: the first two columns count how often a feature was shown and clicked.
bool CvmFits(OpCall& call, const DtBuffer& x) {
  return (x.rank == 2 && x.dims[1] >= kShowAndClick) ||
         (call.Fail("'%s' is no matrix whose first two columns are shows and clicks", x.name),
          false);
}

}  // namespace

// X, CVM; use_cvm -> Y (CVM is for the gradient): logarithms of shows and of the click rate instead
// of the two counts, or neither
int32_t Cvm(OpCall& call) {
  using A = args::dt_cvm;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& y = call.Arg(A::Y);
  const bool keep = call.Bool(A::use_cvm);
  if (!CvmFits(call, x)) return 1;
  const int64_t rows = x.dims[0], width = x.dims[1], skip = keep ? 0 : kShowAndClick;
  if (!call.Resize(y, {rows, width - skip})) return 1;
  OpCall::SetLod(y, OpCall::LodOf(x));
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < rows; ++i) {
      const T* from = Data<T>(x) + i * width;
      T* to = Data<T>(y) + i * (width - skip);
      std::copy(from + skip, from + width, to);
      if (!keep) continue;
      to[0] = std::log(from[0] + 1);
      to[1] = std::log(from[1] + 1) - to[0];
    }
    return 0;
  });
}

// X, CVM, Y@GRAD; use_cvm -> X@GRAD: the first two columns are those of CVM, one row of it for each
// sequence
int32_t CvmGrad(OpCall& call) {
  using A = args::dt_cvm_grad;
  const DtBuffer &x = call.Arg(A::X), &cvm = call.Arg(A::CVM), &gradient = call.Arg(A::Y_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  if (!CvmFits(call, x) || !call.Resize(dx, x)) return 1;
  OpCall::SetLod(dx, OpCall::LodOf(x));
  const std::vector<int64_t> offsets = SequenceOffsets(x);
  const int64_t width = x.dims[1], skip = call.Bool(A::use_cvm) ? 0 : kShowAndClick,
                sequences = static_cast<int64_t>(offsets.size()) - 1;
  if (!OffsetsFit(call, x, offsets)) return 1;
  if (Elements(cvm) != sequences * kShowAndClick ||
      Elements(gradient) != x.dims[0] * (width - skip) || TypeOf(cvm) != TypeOf(x) ||
      TypeOf(gradient) != TypeOf(x))
    return call.Fail("'%s' and '%s' do not fit '%s'", cvm.name, gradient.name, x.name);
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t s = 0; s < sequences; ++s)
      for (int64_t row = offsets[static_cast<size_t>(s)]; row < offsets[static_cast<size_t>(s) + 1];
           ++row) {
        T* to = Data<T>(dx) + row * width;
        const T* from = Data<T>(gradient) + row * (width - skip);
        std::copy(from + (kShowAndClick - skip), from + (width - skip), to + kShowAndClick);
        std::copy_n(Data<T>(cvm) + s * kShowAndClick, kShowAndClick, to);
      }
    return 0;
  });
}

// Ins, Ins_tag, Filter_tag; is_lod, out_val_if_empty -> Out, LossWeight, IndexMap: the instances
// with a wanted tag. Where there is none, one row of `out_val_if_empty` with the weight 0.
int32_t FilterByInstag(OpCall& call) {
  using A = args::dt_filter_by_instag;
  const DtBuffer &x = call.Arg(A::Ins), &tags = call.Arg(A::Ins_tag),
                 &wanted = call.Arg(A::Filter_tag);
  if (x.rank < 1) return call.Fail("'%s' has no rows", x.name);
  std::vector<int64_t> instances = SequenceOffsets(x), tag_values, filter;
  if (!call.Bool(A::is_lod)) {
    instances.resize(static_cast<size_t>(x.dims[0]) + 1);
    std::iota(instances.begin(), instances.end(), int64_t{0});
  }
  const std::vector<int64_t> tag_offsets = SequenceOffsets(tags);
  if (!OffsetsFit(call, x, instances) || !OffsetsFit(call, tags, tag_offsets) ||
      !IntegersOf(call, tags, tag_values) || !IntegersOf(call, wanted, filter))
    return 1;
  if (tag_offsets.size() != instances.size())
    return call.Fail("'%s' has tags of %zu instances, '%s' has %zu", tags.name,
                     tag_offsets.size() - 1, x.name, instances.size() - 1);
  if (static_cast<size_t>(tag_offsets.back()) > tag_values.size())
    return call.Fail("'%s' has fewer tags than its LoD says", tags.name);
  std::sort(filter.begin(), filter.end());
  std::vector<size_t> offsets = {0}, numbers = {0};
  std::vector<int64_t> starts, ends;
  for (size_t i = 0; i + 1 < instances.size(); ++i) {
    const auto first = tag_values.begin() + tag_offsets[i],
               last = tag_values.begin() + tag_offsets[i + 1];
    if (std::none_of(first, last, [&](int64_t tag) {
          return std::binary_search(filter.begin(), filter.end(), tag);
        }))
      continue;
    starts.push_back(instances[i]), ends.push_back(instances[i + 1]);
    offsets.push_back(offsets.back() + static_cast<size_t>(instances[i + 1] - instances[i]));
    numbers.push_back(numbers.size());
  }
  const bool none = starts.empty();
  if (none) offsets.push_back(1), numbers.push_back(1);
  const auto kept = static_cast<int64_t>(offsets.size()) - 1;
  if (call.Has(A::LossWeight)) {
    if (!call.Resize(call.Arg(A::LossWeight), {kept, 1})) return 1;
    if (TypeOf(call.Arg(A::LossWeight)) != DType::kFloat64 &&
        TypeOf(call.Arg(A::LossWeight)) != DType::kFloat32)
      return call.Fail("'%s' is %s", call.Arg(A::LossWeight).name,
                       TypeName(call.Arg(A::LossWeight)));
    for (int64_t i = 0; i < kept; ++i) {
      if (TypeOf(call.Arg(A::LossWeight)) == DType::kFloat64)
        Data<double>(call.Arg(A::LossWeight))[i] = none ? 0 : 1;
      else Data<float>(call.Arg(A::LossWeight))[i] = none ? 0 : 1;
    }
    OpCall::SetLod(call.Arg(A::LossWeight), {numbers});
  }
  if (call.Has(A::IndexMap)) {
    if (!call.Resize(call.Arg(A::IndexMap), {kept, 3})) return 1;
    if (TypeOf(call.Arg(A::IndexMap)) != DType::kInt64)
      return call.Fail("'%s' is %s, expected int64", call.Arg(A::IndexMap).name,
                       TypeName(call.Arg(A::IndexMap)));
    for (int64_t i = 0; i < kept; ++i) {
      const auto at = static_cast<size_t>(i);
      int64_t* const row = Data<int64_t>(call.Arg(A::IndexMap)) + 3 * i;
      row[0] = static_cast<int64_t>(offsets[at]);
      row[1] = none ? 1 : starts[at];
      row[2] = static_cast<int64_t>(offsets[at + 1] - offsets[at]);
    }
    OpCall::SetLod(call.Arg(A::IndexMap), {numbers});
  }
  if (!call.Has(A::Out)) return 0;
  DtBuffer& out = call.Arg(A::Out);
  std::vector<int64_t> dims(x.dims, x.dims + x.rank);
  dims[0] = static_cast<int64_t>(offsets.back());
  if (!call.Resize(out, dims)) return 1;
  OpCall::SetLod(out, {offsets});
  const int64_t bytes = Elements(x, 1, x.rank) * ElementSize(x);
  for (size_t i = 0; i < starts.size(); ++i)
    std::memcpy(Data<char>(out) + static_cast<int64_t>(offsets[i]) * bytes,
                Data<char>(x) + starts[i] * bytes,
                static_cast<size_t>((ends[i] - starts[i]) * bytes));
  if (!none) return 0;
  return VisitNumber(call.context(), out, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::fill_n(Data<T>(out), Elements(out), static_cast<T>(call.Int(A::out_val_if_empty)));
    return 0;
  });
}

// X; num_hash, mod_by -> Out [.., num_hash, 1]: XXH64 of a row, with the seeds 0 to num_hash - 1
int32_t Hash(OpCall& call) {
  using A = args::dt_hash;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  const int64_t hashes = call.Int(A::num_hash), modulus = call.Int(A::mod_by);
  if (x.rank < 1 || hashes < 1 || modulus < 1)
    return call.Fail("%lld hashes of '%s' modulo %lld", static_cast<long long>(hashes), x.name,
                     static_cast<long long>(modulus));
  std::vector<int64_t> dims(x.dims, x.dims + x.rank - 1);
  dims.insert(dims.end(), {hashes, 1});
  const Lod lod = OpCall::LodOf(x);
  if (!call.Resize(out, dims)) return 1;
  OpCall::SetLod(out, lod);
  if (TypeOf(out) != TypeOf(x))
    return call.Fail("'%s' is %s, expected %s", out.name, TypeName(out), TypeName(x));
  return VisitIndex(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t width = x.dims[x.rank - 1], rows = Elements(x, 0, x.rank - 1);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t k = 0; k < hashes; ++k) {
        const uint64_t value = XXH64(Data<T>(x) + i * width, static_cast<size_t>(width) * sizeof(T),
                                     static_cast<uint64_t>(k));
        Data<T>(out)[i * hashes + k] = static_cast<T>(value % static_cast<uint64_t>(modulus));
      }
    return 0;
  });
}

// X; axis, indexes -> Out: of the matrix at each index along the axis the largest elements that
// share no row and no column, one for every sample; their places are 1 at every index
int32_t SimilarityFocus(OpCall& call) {
  using A = args::dt_similarity_focus;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  const int64_t axis = call.Int(A::axis);
  if (x.rank != 4 || axis < 1 || axis > 3)
    return call.Fail("axis %lld of '%s', which has %d dims, expected one of 1 to 3 of 4",
                     static_cast<long long>(axis), x.name, x.rank);
  for (int64_t index : call.Ints(A::indexes))
    if (index < 0 || index >= x.dims[axis])
      return call.Fail("index %lld of an extent of %lld", static_cast<long long>(index),
                       static_cast<long long>(x.dims[axis]));
  if (!call.Resize(out, x)) return 1;
  const int64_t strides[4] = {Elements(x, 1, 4), x.dims[2] * x.dims[3], x.dims[3], 1};
  const int first = axis == 1 ? 2 : 1, second = axis == 3 ? 2 : 3;
  const int64_t rows = x.dims[first], columns = x.dims[second];
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::fill_n(Data<T>(out), Elements(out), T{0});
    std::vector<int64_t> order(static_cast<size_t>(rows * columns));
    for (int64_t sample = 0; sample < x.dims[0]; ++sample)
      for (int64_t index : call.Ints(A::indexes)) {
        const T* matrix = Data<T>(x) + sample * strides[0] + index * strides[axis];
        auto value = [&](int64_t at) {
          return matrix[at / columns * strides[first] + at % columns * strides[second]];
        };
        std::iota(order.begin(), order.end(), int64_t{0});
        std::stable_sort(order.begin(), order.end(),
                         [&](int64_t a, int64_t b) { return value(a) > value(b); });
        std::vector<bool> row_taken(static_cast<size_t>(rows), false),
            column_taken(static_cast<size_t>(columns), false);
        for (int64_t at : order) {
          const int64_t row = at / columns, column = at % columns;
          if (row_taken[static_cast<size_t>(row)] || column_taken[static_cast<size_t>(column)])
            continue;
          row_taken[static_cast<size_t>(row)] = column_taken[static_cast<size_t>(column)] = true;
          for (int64_t k = 0; k < x.dims[axis]; ++k)
            Data<T>(out)[sample * strides[0] + k * strides[axis] + row * strides[first] +
                         column * strides[second]] = T{1};
        }
      }
    return 0;
  });
}

}  // namespace dtranspile::kernels
