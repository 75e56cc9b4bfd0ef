// sequence_pool, sequence_softmax and their gradients: one sequence to one row, and probabilities
// inside a sequence.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/kernels/cpu/long_sum.h"
#include "runtime/kernels/cpu/ops/sequence/calls.h"
#include "runtime/kernels/cpu/sequences.h"

namespace dtranspile::kernels {
namespace {

enum class Pool { kAverage, kSum, kSqrt, kLast, kFirst, kMax };

constexpr struct {
  std::string_view name;
  Pool pool;
} kPools[] = {{"AVERAGE", Pool::kAverage}, {"SUM", Pool::kSum},     {"SQRT", Pool::kSqrt},
              {"LAST", Pool::kLast},       {"FIRST", Pool::kFirst}, {"MAX", Pool::kMax}};

// The kind of pooling by its name; forward and gradient have the attribute in the same place.
bool PoolOf(OpCall& call, Pool& pool) {
  using A = args::dt_sequence_pool;
  static_assert(A::pooltype == args::dt_sequence_pool_grad::pooltype);
  const std::string_view wanted = call.Text(A::pooltype);
  for (const auto& row : kPools) {
    if (row.name == wanted) return pool = row.pool, true;
  }
  return call.Fail("pooltype '%.*s' is not supported", static_cast<int>(wanted.size()),
                   wanted.data()),
         false;
}

// What a sum over `length` rows is multiplied with.
template <typename T>
T ScaleOf(Pool pool, int64_t length) {
  if (pool == Pool::kAverage) return T{1} / static_cast<T>(length);
  if (pool == Pool::kSqrt) return T{1} / std::sqrt(static_cast<T>(length));
  return T{1};
}

// The sum of rows, times `scale`, a few columns at a time.
template <typename T>
void SumOne(T scale, const T* x, int64_t lo, int64_t end, int64_t width, T* out) {
  constexpr int64_t kColumns = 64;
  for (int64_t first = 0; first < width; first += kColumns) {
    Total<T> sums[kColumns] = {};
    const int64_t columns = std::min(kColumns, width - first);
    for (int64_t row = lo; row < end; ++row) {
      const T* from = x + row * width + first;
      for (int64_t j = 0; j < columns; ++j) sums[j] += from[j];
    }
    for (int64_t j = 0; j < columns; ++j) out[first + j] = static_cast<T>(sums[j]) * scale;
  }
}

// Rows [lo, end), not empty, of x to one row; `index` (may be null) gets the rows of the maxima.
template <typename T>
void PoolOne(Pool pool, const T* x, int64_t lo, int64_t end, int64_t width, T* out,
             int32_t* index) {
  const int64_t first = pool == Pool::kLast ? end - 1 : lo;
  std::copy_n(x + first * width, width, out);
  if (pool == Pool::kLast || pool == Pool::kFirst) return;
  if (pool != Pool::kMax) return SumOne(ScaleOf<T>(pool, end - lo), x, lo, end, width, out);
  if (index != nullptr) std::fill_n(index, width, static_cast<int32_t>(lo));
  for (int64_t row = lo + 1; row < end; ++row) {
    const T* from = x + row * width;
    for (int64_t j = 0; j < width; ++j) {
      if (!(from[j] > out[j])) continue;
      out[j] = from[j];
      if (index != nullptr) index[j] = static_cast<int32_t>(row);
    }
  }
}

// The gradient of one row for each of the rows [lo, end).
template <typename T>
void SpreadOne(Pool pool, const T* gradient, int64_t lo, int64_t end, int64_t width, T* dx) {
  const bool single = pool == Pool::kLast || pool == Pool::kFirst;
  if (single) {
    std::memset(dx + lo * width, 0, static_cast<size_t>((end - lo) * width) * sizeof(T));
    std::copy_n(gradient, width, dx + (pool == Pool::kLast ? end - 1 : lo) * width);
    return;
  }
  const T scale = ScaleOf<T>(pool, end - lo);
  for (int64_t row = lo; row < end; ++row)
    for (int64_t j = 0; j < width; ++j) dx[row * width + j] = gradient[j] * scale;
}

// The gradient of a maximum goes to the row that MaxIndex names; the rows are checked, since they
// may come from a program's own tensor. Empty sequences have none.
template <typename T>
int32_t SpreadMaxima(OpCall& call, const Offsets& offsets, const DtBuffer& index, const T* gradient,
                     int64_t width, T* dx) {
  if (TypeOf(index) != DType::kInt32 || Elements(index) != CountOf(offsets) * width)
    return call.Fail("'%s' has %lld elements, expected the int32 rows of %lld maxima", index.name,
                     static_cast<long long>(Elements(index)),
                     static_cast<long long>(CountOf(offsets) * width));
  std::memset(dx, 0, static_cast<size_t>(offsets.back() * width) * sizeof(T));
  for (int64_t i = 0; i < CountOf(offsets); ++i) {
    const int64_t lo = offsets[static_cast<size_t>(i)], end = lo + LengthAt(offsets, i);
    for (int64_t j = 0; lo < end && j < width; ++j) {
      const int64_t row = Data<int32_t>(index)[i * width + j];
      if (row < lo || row >= end)
        return call.Fail("'%s' has the row %lld, outside of its sequence [%lld, %lld)", index.name,
                         static_cast<long long>(row), static_cast<long long>(lo),
                         static_cast<long long>(end));
      dx[row * width + j] = gradient[i * width + j];
    }
  }
  return 0;
}

}  // namespace

// Sequence i of the last level becomes row i; an empty one is pad_value. MaxIndex, which only MAX
// has, is empty otherwise.
int32_t SequencePool(OpCall& call) {
  using A = args::dt_sequence_pool;
  const DtBuffer& x = call.Arg(A::X);
  const bool read = call.Has(A::Out);
  Pool pool;
  Offsets offsets;
  if (!PoolOf(call, pool) || !SequencesOf(call, x, offsets) || !CheckTypes(call, x, {A::Out}) ||
      !CheckTypes(call, DType::kInt32, {A::MaxIndex}))
    return 1;
  const int64_t count = CountOf(offsets), width = RowSize(x);
  if (read && !call.Resize(call.Arg(A::Out), WithRows(x, count))) return 1;
  const bool indexed = pool == Pool::kMax && call.Has(A::MaxIndex);
  if (call.Has(A::MaxIndex) &&
      !call.Resize(call.Arg(A::MaxIndex), WithRows(x, indexed ? count : 0)))
    return 1;
  // Upper levels group what are rows now.
  const Lod& lod = OpCall::LodOf(x);
  if (read) OpCall::SetLod(call.Arg(A::Out), Lod(lod.begin(), lod.end() - 1));
  int32_t* index = indexed ? Data<int32_t>(call.Arg(A::MaxIndex)) : nullptr;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T padding = static_cast<T>(call.Real(A::pad_value));
    T* const out = read ? Data<T>(call.Arg(A::Out)) : ScratchOf<T>(call, count * width);
    if (out == nullptr) return 1;
    Parallel(
        call.context(), count, GrainFor(Elements(x) * ElementSize(x) / std::max<int64_t>(count, 1)),
        [&](int64_t begin, int64_t n) {
          for (int64_t i = begin; i < begin + n; ++i) {
            const int64_t lo = offsets[static_cast<size_t>(i)], end = lo + LengthAt(offsets, i);
            int32_t* rows = index == nullptr ? nullptr : index + i * width;
            if (lo < end) {
              PoolOne(pool, Data<T>(x), lo, end, width, out + i * width, rows);
            } else {
              std::fill_n(out + i * width, width, padding);
              if (rows != nullptr) std::fill_n(rows, width, -1);
            }
          }
        });
    return 0;
  });
}

// Every sequence's rows get their share of the gradient of its row; rows of different sequences are
// disjoint, so that threads take sequences.
int32_t SequencePoolGrad(OpCall& call) {
  using A = args::dt_sequence_pool_grad;
  const DtBuffer &x = call.Arg(A::X), &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  Pool pool;
  Offsets offsets;
  if (!PoolOf(call, pool) || !SequencesOf(call, x, offsets) ||
      !CheckTypes(call, x, {A::Out_GRAD, A::X_GRAD}))
    return 1;
  const int64_t count = CountOf(offsets), width = RowSize(x);
  if (!CheckRows(call, gradient, count) || !call.Resize(dx, x)) return 1;
  if (RowSize(gradient) != width)
    return call.Fail("'%s' has not the extents of the pooled '%s'", gradient.name, x.name);
  OpCall::SetLod(dx, OpCall::LodOf(x));
  return VisitFloat(call.context(), dx, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (pool == Pool::kMax)
      return SpreadMaxima(call, offsets, call.Arg(A::MaxIndex), Data<T>(gradient), width,
                          Data<T>(dx));
    Parallel(
        call.context(), count, GrainFor(Elements(x) * ElementSize(x) / std::max<int64_t>(count, 1)),
        [&](int64_t begin, int64_t n) {
          for (int64_t i = begin; i < begin + n; ++i) {
            const int64_t lo = offsets[static_cast<size_t>(i)], end = lo + LengthAt(offsets, i);
            if (lo < end)
              SpreadOne(pool, Data<T>(gradient) + i * width, lo, end, width, Data<T>(dx));
          }
        });
    return 0;
  });
}

// Probabilities within each sequence, by the stable form exp(x - max) / sum.
int32_t SequenceSoftmax(OpCall& call) {
  using A = args::dt_sequence_softmax;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  Offsets offsets;
  if (!SequencesOf(call, x, offsets) || !CheckTypes(call, x, {A::Out})) return 1;
  if (RowSize(x) != 1)
    return call.Fail("'%s' has %lld elements in a row, sequence_softmax takes one", x.name,
                     static_cast<long long>(RowSize(x)));
  if (!call.Resize(out, x)) return 1;
  OpCall::SetLod(out, OpCall::LodOf(x));
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = Data<T>(x);
    T* to = Data<T>(out);
    for (int64_t i = 0; i < CountOf(offsets); ++i) {
      const int64_t lo = offsets[static_cast<size_t>(i)], end = lo + LengthAt(offsets, i);
      if (lo == end) continue;
      // The framework's processors do without the maximum, and have NaN where exp overflows.
      const T largest = call.Bool(A::defects) ? T(0) : *std::max_element(from + lo, from + end);
      Total<T> total = 0;
      for (int64_t k = lo; k < end; ++k) total += to[k] = std::exp(from[k] - largest);
      const T sum = static_cast<T>(total);
      for (int64_t k = lo; k < end; ++k) to[k] /= sum;
    }
    return 0;
  });
}

// dx = y (dy - sum over the sequence of y dy).
int32_t SequenceSoftmaxGrad(OpCall& call) {
  using A = args::dt_sequence_softmax_grad;
  const DtBuffer &x = call.Arg(A::X), &out = call.Arg(A::Out), &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  Offsets offsets;
  if (!SequencesOf(call, x, offsets) || !CheckTypes(call, x, {A::Out, A::Out_GRAD, A::X_GRAD}) ||
      !call.Resize(dx, x))
    return 1;
  if (Elements(out) != offsets.back() || Elements(gradient) != offsets.back())
    return call.Fail("'%s' and '%s' have not one element for each row of '%s'", out.name,
                     gradient.name, x.name);
  OpCall::SetLod(dx, OpCall::LodOf(x));
  return VisitFloat(call.context(), dx, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *y = Data<T>(out), *dy = Data<T>(gradient);
    for (int64_t i = 0; i < CountOf(offsets); ++i) {
      const int64_t lo = offsets[static_cast<size_t>(i)], end = lo + LengthAt(offsets, i);
      Total<T> total = 0;
      for (int64_t k = lo; k < end; ++k) total += y[k] * dy[k];
      const T sum = static_cast<T>(total);
      for (int64_t k = lo; k < end; ++k) Data<T>(dx)[k] = y[k] * (dy[k] - sum);
    }
    return 0;
  });
}

}  // namespace dtranspile::kernels
