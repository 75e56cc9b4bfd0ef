// reshape, squeeze, unsqueeze, flatten and their gradients where extents come with the data (with
// known ones they are views of the plan, and none of these is called). XShape carries the extents
// of X after a 0 to the gradient (phi reshape, squeeze, unsqueeze, flatten).
#include <algorithm>
#include <cstring>

#include "runtime/kernels/cpu/ops/shape/calls.h"

namespace dtranspile::kernels {
namespace {

using Extents = std::vector<int64_t>;

int32_t Move(OpCall& call, const DtBuffer& x, DtBuffer& out, const Extents& dims) {
  int64_t count = 1;
  bool fits = true;
  for (int64_t d : dims) fits &= d >= 0 && !__builtin_mul_overflow(count, d, &count);
  if (!fits || count != Elements(x))
    return call.Fail("the %lld elements of '%s' do not fit the extents asked for",
                     static_cast<long long>(Elements(x)), x.name);
  if (!SameType(call, x, out) || !call.Resize(out, dims)) return 1;
  if (out.rank > 0 && x.rank > 0 && out.dims[0] == x.dims[0]) OpCall::SetLod(out, OpCall::LodOf(x));
  if (count > 0) std::memcpy(out.data, x.data, static_cast<size_t>(count * ElementSize(x)));
  return 0;
}

// Out and XShape after the inputs.
int32_t Finish(OpCall& call, int out_slot, const Extents& dims) {
  using A = args::dt_flatten;
  static_assert(A::X == args::dt_flatten_range::X);
  static_assert(A::X == args::dt_reshape2::X);
  static_assert(A::X == args::dt_squeeze::X);
  static_assert(A::X == args::dt_unsqueeze::X);
  const DtBuffer& x = call.Arg(A::X);
  if (call.Has(out_slot + 1)) {
    Extents shape(x.dims, x.dims + x.rank);
    shape.insert(shape.begin(), 0);
    if (!call.Resize(call.Arg(out_slot + 1), shape)) return 1;
  }
  return call.Has(out_slot) ? Move(call, x, call.Arg(out_slot), dims) : 0;
}

}  // namespace

// X, Shape, ShapeTensor; shape -> Out, XShape: 0 takes the extent of X, one -1 what is left
int32_t Reshape(OpCall& call) {
  using A = args::dt_reshape2;
  const DtBuffer& x = call.Arg(A::X);
  Extents dims;
  if (!NumbersFrom(call, A::ShapeTensor, A::Shape, call.Ints(A::shape), dims)) return 1;
  int64_t* open = nullptr;
  int64_t rest = 1;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 0 && static_cast<int32_t>(d) < x.rank) dims[d] = x.dims[d];
    if (dims[d] == -1 && open == nullptr) open = &dims[d];
    else if (dims[d] < 0 || __builtin_mul_overflow(rest, dims[d], &rest))
      return call.Fail("'%s' cannot have the extent %lld", x.name, static_cast<long long>(dims[d]));
  }
  if (open != nullptr) *open = rest > 0 ? Elements(x) / rest : 0;
  return Finish(call, A::Out, dims);
}

// X; axes -> Out, XShape: drops the axes of extent 1, all of them where none is named
int32_t Squeeze(OpCall& call) {
  using A = args::dt_squeeze;
  const DtBuffer& x = call.Arg(A::X);
  std::vector<bool> named(static_cast<size_t>(x.rank), call.Ints(A::axes).empty());
  for (int64_t axis : call.Ints(A::axes)) {
    if (!NormalAxis(call, x, axis)) return 1;
    named[static_cast<size_t>(axis)] = true;
  }
  Extents dims;
  for (int32_t d = 0; d < x.rank; ++d)
    if (x.dims[d] != 1 || !named[static_cast<size_t>(d)]) dims.push_back(x.dims[d]);
  return Finish(call, A::Out, dims);
}

// X, AxesTensor, AxesTensorList; axes -> Out, XShape: new axes of extent 1, one after the other
int32_t Unsqueeze(OpCall& call) {
  using A = args::dt_unsqueeze;
  const DtBuffer& x = call.Arg(A::X);
  Extents axes, dims(x.dims, x.dims + x.rank);
  if (!NumbersFrom(call, A::AxesTensorList, A::AxesTensor, call.Ints(A::axes), axes)) return 1;
  for (int64_t axis : axes) {
    const auto rank = static_cast<int64_t>(dims.size()) + 1;
    if (axis < -rank || axis >= rank)
      return call.Fail("'%s' cannot have a new axis %lld", x.name, static_cast<long long>(axis));
    dims.insert(dims.begin() + (axis < 0 ? axis + rank : axis), 1);
  }
  return Finish(call, A::Out, dims);
}

// X; axis -> Out, XShape: a matrix with the dims before the axis as rows
int32_t Flatten(OpCall& call) {
  using A = args::dt_flatten;
  const DtBuffer& x = call.Arg(A::X);
  const int64_t axis = call.Int(A::axis);
  if (axis < 0 || axis > x.rank)
    return call.Fail("axis %lld of '%s', which has %d dims", static_cast<long long>(axis), x.name,
                     x.rank);
  const auto at = static_cast<int32_t>(axis);
  return Finish(call, A::Out, {Elements(x, 0, at), Elements(x, at, x.rank)});
}

// X; start_axis, stop_axis -> Out, XShape: these dims made one
int32_t FlattenRange(OpCall& call) {
  using A = args::dt_flatten_range;
  const DtBuffer& x = call.Arg(A::X);
  if (x.rank == 0) return Finish(call, A::Out, {1});
  int64_t start = call.Int(A::start_axis), stop = call.Int(A::stop_axis);
  if (!NormalAxis(call, x, start) || !NormalAxis(call, x, stop)) return 1;
  if (start > stop)
    return call.Fail("'%s' has no axes %lld to %lld", x.name, static_cast<long long>(start),
                     static_cast<long long>(stop));
  Extents dims(x.dims, x.dims + start);
  dims.push_back(Elements(x, static_cast<int32_t>(start), static_cast<int32_t>(stop) + 1));
  dims.insert(dims.end(), x.dims + stop + 1, x.dims + x.rank);
  return Finish(call, A::Out, dims);
}

// X, XShape, Out@GRAD -> X@GRAD
int32_t ReshapeBack(OpCall& call) {
  using A = args::dt_reshape_back;
  Extents dims;
  if (call.Has(A::XShape))
    dims.assign(call.Arg(A::XShape).dims + std::min(call.Arg(A::XShape).rank, 1),
                call.Arg(A::XShape).dims + call.Arg(A::XShape).rank);
  else dims.assign(call.Arg(A::X).dims, call.Arg(A::X).dims + call.Arg(A::X).rank);
  return Move(call, call.Arg(A::Out_GRAD), call.Arg(A::X_GRAD), dims);
}

}  // namespace dtranspile::kernels
