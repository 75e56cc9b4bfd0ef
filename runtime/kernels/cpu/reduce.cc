#include "runtime/kernels/cpu/reduce.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>

#include "runtime/kernels/cpu/support.h"

namespace dtranspile::kernels {
namespace {

constexpr int32_t kMostDims = 8;

// Sums are formed in this type.
template <typename T>
using Wide = std::conditional_t<std::is_floating_point_v<T>, double,
                                std::conditional_t<std::is_same_v<T, bool>, bool, int64_t>>;

// What is reduced with: start value, one step, the end.
template <typename T>
struct Sum {
  using Acc = Wide<T>;
  static Acc Start() { return 0; }
  static Acc Step(Acc a, Acc b) { return a + b; }
  static T End(Acc a, int64_t) { return static_cast<T>(a); }
};
template <typename T>
struct Mean : Sum<T> {
  static T End(Wide<T> a, int64_t count) {
    return count == 0 ? T{0} : static_cast<T>(a / static_cast<Wide<T>>(count));
  }
};
template <typename T>
struct Prod {
  using Acc = Wide<T>;
  static Acc Start() { return 1; }
  static Acc Step(Acc a, Acc b) { return a * b; }
  static T End(Acc a, int64_t) { return static_cast<T>(a); }
};
template <typename T, bool kMax>
struct Extreme {
  using Acc = T;
  static Acc Start() {
    using Limits = std::numeric_limits<T>;
    if constexpr (Limits::has_infinity) return kMax ? -Limits::infinity() : Limits::infinity();
    return kMax ? Limits::lowest() : Limits::max();
  }
  static Acc Step(Acc a, Acc b) {
    if (b != b) return b;
    return (kMax ? b > a : b < a) ? b : a;
  }
  static T End(Acc a, int64_t) { return a; }
};
template <bool kAll>
struct Logic {
  using Acc = bool;
  static Acc Start() { return kAll; }
  static Acc Step(Acc a, Acc b) { return kAll ? a && b : a || b; }
  static bool End(Acc a, int64_t) { return a; }
};

// The dimensions of X with neighbours of one kind merged: loops over kept ones (extents and strides
// in X), then over reduced ones.
struct Loops {
  int32_t kept = 0, reduced = 0;
  int64_t kept_extent[kMostDims], kept_stride[kMostDims];
  int64_t reduced_extent[kMostDims], reduced_stride[kMostDims];
  int64_t outputs = 1, inputs_per_output = 1;
};

bool ReadDims(DtContext* context, const DtCall* call, bool (&reduced)[kMostDims]) {
  const int32_t rank = call->args[0].rank;
  if (rank > kMostDims)
    return dt_fail(context, "%d dimensions, at most %d are known", rank, kMostDims), false;
  std::fill_n(reduced, kMostDims, call->num_ints == 0);
  for (int32_t i = 0; i < call->num_ints; ++i) {
    const int64_t dim = call->ints[i] < 0 ? call->ints[i] + rank : call->ints[i];
    if (dim < 0 || dim >= rank)
      return dt_fail(context, "dimension %lld of %d", static_cast<long long>(call->ints[i]), rank),
             false;
    reduced[dim] = true;
  }
  return true;
}

Loops MakeLoops(const DtBuffer& x, const bool (&reduced)[kMostDims]) {
  Loops l;
  int64_t strides[kMostDims];
  for (int64_t i = x.rank - 1, stride = 1; i >= 0; --i) strides[i] = stride, stride *= x.dims[i];
  for (int32_t i = 0; i < x.rank; ++i) {
    if (x.dims[i] == 1) continue;
    int32_t& count = reduced[i] ? l.reduced : l.kept;
    int64_t* extent = reduced[i] ? l.reduced_extent : l.kept_extent;
    int64_t* stride = reduced[i] ? l.reduced_stride : l.kept_stride;
    (reduced[i] ? l.inputs_per_output : l.outputs) *= x.dims[i];
    if (count > 0 && stride[count - 1] == strides[i] * x.dims[i]) {
      extent[count - 1] *= x.dims[i];
      stride[count - 1] = strides[i];
    } else {
      extent[count] = x.dims[i];
      stride[count++] = strides[i];
    }
  }
  return l;
}

int64_t Offset(const int64_t* extent, const int64_t* stride, int32_t count, int64_t index) {
  int64_t offset = 0;
  for (int32_t i = count - 1; i >= 0; --i) {
    offset += index % extent[i] * stride[i];
    index /= extent[i];
  }
  return offset;
}

// A run of elements in eight interleaved chains, joined in order: one fixed order that still fills
// vector registers.
template <typename Op, typename T>
typename Op::Acc ReduceRun(const T* x, int64_t count, int64_t stride, typename Op::Acc start) {
  constexpr int64_t kChains = 8;
  typename Op::Acc chains[kChains];
  std::fill_n(chains, kChains, Op::Start());
  int64_t i = 0;
  if (stride == 1)
    for (; i + kChains <= count; i += kChains)
      for (int64_t k = 0; k < kChains; ++k) chains[k] = Op::Step(chains[k], x[i + k]);
  for (; i < count; ++i) chains[i % kChains] = Op::Step(chains[i % kChains], x[i * stride]);
  for (const auto& chain : chains) start = Op::Step(start, chain);
  return start;
}

// Everything to one element: parts of fixed size, joined in order.
template <typename Op, typename T>
int32_t ReduceAll(DtContext* context, const T* x, int64_t count, T* y) {
  using Acc = typename Op::Acc;
  constexpr int64_t kPart = 16384;
  const int64_t parts = (count + kPart - 1) / kPart;
  auto* partial = static_cast<Acc*>(dt_scratch(context, parts * static_cast<int64_t>(sizeof(Acc))));
  if (partial == nullptr)
    return dt_fail(context, "no memory for %lld parts", static_cast<long long>(parts));
  Parallel(context, parts, 1, [&](int64_t lo, int64_t n) {
    for (int64_t i = lo; i < lo + n; ++i)
      partial[i] = ReduceRun<Op>(x + i * kPart, std::min(kPart, count - i * kPart), 1, Op::Start());
  });
  Acc result = Op::Start();
  for (int64_t i = 0; i < parts; ++i) result = Op::Step(result, partial[i]);
  *y = Op::End(result, count);
  return 0;
}

// The innermost dimension is kept: whole rows are added to a row of accumulators.
template <typename Op, typename T>
void ReduceColumns(const Loops& l, const T* x, T* y, int64_t lo, int64_t n) {
  constexpr int64_t kBlock = 1024;
  typename Op::Acc accumulators[kBlock];
  const int64_t row = l.kept_extent[l.kept - 1];
  for (int64_t i = lo; i < lo + n;) {
    const int64_t width = std::min({kBlock, row - i % row, lo + n - i});
    const T* from = x + Offset(l.kept_extent, l.kept_stride, l.kept, i);
    std::fill_n(accumulators, width, Op::Start());
    for (int64_t r = 0; r < l.inputs_per_output; ++r) {
      const T* run = from + Offset(l.reduced_extent, l.reduced_stride, l.reduced, r);
      for (int64_t j = 0; j < width; ++j) accumulators[j] = Op::Step(accumulators[j], run[j]);
    }
    for (int64_t j = 0; j < width; ++j) y[i + j] = Op::End(accumulators[j], l.inputs_per_output);
    i += width;
  }
}

// The innermost dimension is reduced: each element of Y reads runs.
template <typename Op, typename T>
void ReduceRows(const Loops& l, const T* x, T* y, int64_t lo, int64_t n) {
  const int64_t run = l.reduced == 0 ? 1 : l.reduced_extent[l.reduced - 1];
  const int64_t stride = l.reduced == 0 ? 1 : l.reduced_stride[l.reduced - 1];
  const int64_t runs = run == 0 ? 0 : l.inputs_per_output / run;
  for (int64_t i = lo; i < lo + n; ++i) {
    const T* from = x + Offset(l.kept_extent, l.kept_stride, l.kept, i);
    auto result = Op::Start();
    for (int64_t r = 0; r < runs; ++r)
      result = ReduceRun<Op>(from + Offset(l.reduced_extent, l.reduced_stride, l.reduced - 1, r),
                             run, stride, result);
    y[i] = Op::End(result, l.inputs_per_output);
  }
}

template <typename Op, typename T>
int32_t Reduce(DtContext* context, const Loops& l, const T* x, T* y) {
  if (l.kept == 0 && l.reduced == 1) return ReduceAll<Op>(context, x, l.inputs_per_output, y);
  const bool columns = l.kept > 0 && l.kept_stride[l.kept - 1] == 1;
  const int64_t grain = GrainFor(l.inputs_per_output * static_cast<int64_t>(sizeof(T)));
  // Neighbouring columns share cache lines; rows do not.
  Parallel(context, l.outputs, columns ? std::max<int64_t>(grain, 16) : grain,
           [&](int64_t lo, int64_t n) {
             if (columns) ReduceColumns<Op>(l, x, y, lo, n);
             else ReduceRows<Op>(l, x, y, lo, n);
           });
  return 0;
}

template <typename T>
struct Row {
  std::string_view name;
  int32_t (*reduce)(DtContext*, const Loops&, const T*, T*);
};

template <typename T>
constexpr Row<T> kRows[] = {
    {"sum", Reduce<Sum<T>, T>},
    {"mean", Reduce<Mean<T>, T>},
    {"prod", Reduce<Prod<T>, T>},
    {"max", Reduce<Extreme<T, true>, T>},
    {"min", Reduce<Extreme<T, false>, T>},
};
template <>
constexpr Row<bool> kRows<bool>[] = {
    {"all", Reduce<Logic<true>, bool>},
    {"any", Reduce<Logic<false>, bool>},
};

template <typename T>
int32_t ReduceBy(DtContext* context, const DtCall* call, const Loops& l) {
  for (const Row<T>& row : kRows<T>)
    if (row.name == call->strings[0])
      return row.reduce(context, l, Data<const T>(call->args[0]), Data<T>(call->args[1]));
  return dt_fail(context, "no reduction '%s' of %s", call->strings[0], TypeName(call->args[0]));
}

}  // namespace
}  // namespace dtranspile::kernels

using namespace dtranspile::kernels;

extern "C" int32_t dt_reduce(DtContext* context, const DtCall* call) {
  if (!CheckCall(context, call, {2, kAny, 0, 1}) || !CheckSameType(context, call, 0, 2)) return 1;
  bool reduced[kMostDims];
  if (!ReadDims(context, call, reduced)) return 1;
  const DtBuffer &x = call->args[0], &y = call->args[1];
  const Loops l = MakeLoops(x, reduced);
  if (Elements(y) != l.outputs)
    return dt_fail(context, "Out has %lld elements, expected %lld",
                   static_cast<long long>(Elements(y)), static_cast<long long>(l.outputs));
  if (TypeOf(x) == dtranspile::DType::kBool) return ReduceBy<bool>(context, call, l);
  return VisitNumber(context, x, [&](auto tag) {
    return ReduceBy<typename decltype(tag)::type>(context, call, l);
  });
}
