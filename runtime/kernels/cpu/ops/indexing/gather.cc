// gather and its gradient (phi gather): rows of X along an axis by index. Slots and attributes:
// runtime/kernels/signatures/indexing.calls.
#include <algorithm>
#include <cstring>

#include "runtime/kernels/cpu/long_sum.h"
#include "runtime/kernels/cpu/ops/indexing/calls.h"

namespace dtranspile::kernels {
namespace {

// X as [outer, n, inner] around the axis.
struct Cut {
  int64_t outer, n, inner;
};

Cut CutAt(const DtBuffer& x, int64_t axis) {
  const auto at = static_cast<int32_t>(axis);
  return {Elements(x, 0, at), x.dims[at], Elements(x, at + 1, x.rank)};
}

bool AxisOf(OpCall& call, const DtBuffer& x, int axis_slot, int64_t& axis) {
  using A = args::dt_gather;
  static_assert(A::axis == args::dt_gather_grad::axis);
  std::vector<int64_t> given = {call.Int(A::axis)};
  if (call.Has(axis_slot) && !IntegersOf(call, call.Arg(axis_slot), given)) return false;
  if (given.size() != 1)
    return call.Fail("'%s' has %zu elements, expected one axis", call.Arg(axis_slot).name,
                     given.size()),
           false;
  axis = given[0];
  return NormalAxis(call, x, axis);
}

bool IndicesOf(OpCall& call, const DtBuffer& index, int64_t n, std::vector<int64_t>& values) {
  if (!IntegersOf(call, index, values)) return false;
  for (int64_t& i : values) {
    if (i >= -n && i < n) {
      if (i < 0) i += n;
      continue;
    }
    return call.Fail("'%s' has the index %lld, out of range for an extent of %lld", index.name,
                     static_cast<long long>(i), static_cast<long long>(n)),
           false;
  }
  return true;
}

}  // namespace

// Out[o, i, …] = X[o, index[i], …], rows of `inner` elements copied in parallel.
int32_t Gather(OpCall& call) {
  using A = args::dt_gather;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  int64_t axis = 0;
  std::vector<int64_t> index;
  if (!SameType(call, x, out) || !AxisOf(call, x, A::Axis, axis) ||
      !IndicesOf(call, call.Arg(A::Index), x.dims[axis], index))
    return 1;
  std::vector<int64_t> dims(x.dims, x.dims + axis);
  if (call.Arg(A::Index).rank > 0) dims.push_back(static_cast<int64_t>(index.size()));
  dims.insert(dims.end(), x.dims + axis + 1, x.dims + x.rank);
  if (!call.Resize(out, dims)) return 1;
  const Cut cut = CutAt(x, axis);
  const int64_t bytes = cut.inner * ElementSize(x);
  const auto count = static_cast<int64_t>(index.size());
  Parallel(call.context(), cut.outer * count, GrainFor(bytes), [&](int64_t lo, int64_t n) {
    for (int64_t i = lo; i < lo + n; ++i)
      std::memcpy(
          Data<char>(out) + i * bytes,
          Data<char>(x) + ((i / count) * cut.n + index[static_cast<size_t>(i % count)]) * bytes,
          static_cast<size_t>(bytes));
  });
  return 0;
}

// Rows of the gradient are added to the rows that they were read from, in the order of the index
// whatever the number of threads.
int32_t GatherGrad(OpCall& call) {
  using A = args::dt_gather_grad;
  const DtBuffer &x = call.Arg(A::X), &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  int64_t axis = 0;
  std::vector<int64_t> index;
  if (!SameType(call, gradient, dx) || !AxisOf(call, x, A::Axis, axis) ||
      !IndicesOf(call, call.Arg(A::Index), x.dims[axis], index) || !call.Resize(dx, x))
    return 1;
  const Cut cut = CutAt(x, axis);
  const auto count = static_cast<int64_t>(index.size());
  if (Elements(gradient) != cut.outer * count * cut.inner)
    return call.Fail("'%s' has not the extents of the gathered rows", gradient.name);
  // 1.x writes where asked to, so that the last of equal indices wins; later versions always add.
  const bool overwrite = call.Bool(A::overwrite) && call.Int(A::version) < 2000000;
  // Along another axis than the first the framework's processors read the gradient of the first
  // position before the axis at all of them (GatherV2GradFunction).
  const bool first = axis != 0 && call.Bool(A::defects);
  return VisitNumber(call.context(), dx, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::memset(dx.data, 0, static_cast<size_t>(Elements(dx) * ElementSize(dx)));
    const RowAdder<T> adder(call, index, cut.inner, cut.n);
    for (int64_t o = 0; o < cut.outer; ++o) {
      T* to = Data<T>(dx) + o * cut.n * cut.inner;
      const T* from = Data<T>(gradient) + (first ? 0 : o) * count * cut.inner;
      if (!overwrite) {
        if (!adder.Add(from, to)) return 1;
        continue;
      }
      for (int64_t i = 0; i < count; ++i)
        std::copy_n(from + i * cut.inner, cut.inner,
                    to + index[static_cast<size_t>(i)] * cut.inner);
    }
    return 0;
  });
}

}  // namespace dtranspile::kernels
