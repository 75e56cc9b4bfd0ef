// Repetition: tile and expand of 1.x (whole repetitions), expand_v2 and expand_as_v2
// (broadcasting), broadcast_tensors, repeat_interleave, meshgrid; their gradients sum over the
// copies (phi tile, expand, expand_as, broadcast_tensors, repeat_interleave, meshgrid).
#include <algorithm>
#include <cstring>

#include "runtime/kernels/cpu/ops/shape/calls.h"

namespace dtranspile::kernels {

constexpr size_t kMostTimes = 16;  // dims

// X, RepeatTimes, repeat_times_tensor; repeat_times
bool TileMap(OpCall& call, const DtBuffer& x, AxisMap& map) {
  using A = args::dt_tile;
  static_assert(A::RepeatTimes == args::dt_tile_grad::RepeatTimes &&
                A::repeat_times == args::dt_tile_grad::repeat_times &&
                A::repeat_times_tensor == args::dt_tile_grad::repeat_times_tensor);
  std::vector<int64_t> times;
  if (!NumbersFrom(call, A::repeat_times_tensor, A::RepeatTimes, call.Ints(A::repeat_times), times))
    return false;
  if (times.size() > kMostTimes)
    return call.Fail("'%s' is to be repeated along %zu dims", x.name, times.size()), false;
  map.Prepend(static_cast<int64_t>(times.size()) - x.rank);
  times.insert(times.begin(), map.at.size() - times.size(), 1);
  for (size_t d = 0; d < times.size(); ++d)
    if (times[d] != 1 && !RepeatDim(call, x.name, times[d], map.at[d])) return false;
  return true;
}

// X, Shape, expand_shapes_tensor; shape
bool ExpandMap(OpCall& call, const DtBuffer& x, AxisMap& map) {
  using A = args::dt_expand;
  static_assert(A::Shape == args::dt_expand_grad::Shape &&
                A::expand_shapes_tensor == args::dt_expand_grad::expand_shapes_tensor &&
                A::shape == args::dt_expand_grad::shape);
  std::vector<int64_t> shape;
  return NumbersFrom(call, A::expand_shapes_tensor, A::Shape, call.Ints(A::shape), shape) &&
         BroadcastTo(call, x.name, shape, map);
}

// X, Y (or Out@GRAD, which has its extents); target_shape
bool ExpandAsMap(OpCall& call, const DtBuffer& x, AxisMap& map) {
  using A = args::dt_expand_as;
  static_assert(A::target_shape == args::dt_expand_as_grad::target_shape &&
                A::Y == args::dt_expand_as_grad::Y);
  const auto shape = call.Ints(A::target_shape);
  const bool told =
      shape.size() > 0 && std::all_of(shape.begin(), shape.end(), [](int64_t n) { return n >= 0; });
  if (call.Has(A::Y) && !told) return BroadcastTo(call, x.name, OpCall::Dims(call.Arg(A::Y)), map);
  return BroadcastTo(call, x.name, call.Ints(A::target_shape), map);
}

// X, Y, Out@GRAD; target_shape -> X@GRAD. The framework divides the extents that the program was
// saved with by those of X: of an extent that was not known (-1) it makes 0 repetitions, and sums
// over nothing (docs/operators/defects.md).
int32_t ExpandAsGrad(OpCall& call) {
  using A = args::dt_expand_as_grad;
  const auto shape = call.Ints(A::target_shape);
  const bool unknown = std::any_of(shape.begin(), shape.end(), [](int64_t n) { return n < 0; });
  if (!unknown || !call.Given(A::defects) || !call.Bool(A::defects) ||
      SameShape(call.Arg(A::X), call.Arg(A::Out_GRAD)))
    return MappedGrad<ExpandAsMap>(call);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  if (!call.Resize(dx, call.Arg(A::X))) return 1;
  std::memset(dx.data, 0, static_cast<size_t>(Elements(dx) * ElementSize(dx)));
  return 0;
}

// X, target_tensor
bool TileAsMap(OpCall& call, const DtBuffer& x, AxisMap& map) {
  using A = args::dt_tile_as;
  static_assert(A::target_tensor == args::dt_tile_as_grad::target_tensor);
  const DtBuffer& target = call.Arg(A::target_tensor);
  if (target.rank != x.rank)
    return call.Fail("'%s' has %d dims, '%s' has %d", x.name, x.rank, target.name, target.rank),
           false;
  for (int32_t d = 0; d < x.rank; ++d) {
    if (x.dims[d] == 0 || target.dims[d] % x.dims[d] != 0)
      return call.Fail("'%s' has %lld positions in dim %d, no multiple of those of '%s'",
                       target.name, static_cast<long long>(target.dims[d]), d, x.name),
             false;
    if (!RepeatDim(call, x.name, target.dims[d] / x.dims[d], map.at[static_cast<size_t>(d)]))
      return false;
  }
  return true;
}

// X, RepeatsTensor; Repeats, dim
bool RepeatMap(OpCall& call, const DtBuffer& x, AxisMap& map) {
  using A = args::dt_repeat_interleave;
  static_assert(A::Repeats == args::dt_repeat_interleave_grad::Repeats &&
                A::RepeatsTensor == args::dt_repeat_interleave_grad::RepeatsTensor &&
                A::dim == args::dt_repeat_interleave_grad::dim);
  int64_t dim = call.Int(A::dim);
  if (!NormalAxis(call, x, dim)) return false;
  const auto extent = static_cast<size_t>(x.dims[dim]);
  std::vector<int64_t> times(extent, call.Int(A::Repeats));
  if (call.Has(A::RepeatsTensor) && !IntegersOf(call, call.Arg(A::RepeatsTensor), times))
    return false;
  if (times.size() != extent)
    return call.Fail("'%s' has %zu numbers for %zu positions", call.Arg(A::RepeatsTensor).name,
                     times.size(), extent),
           false;
  std::vector<int64_t>& at = map.at[static_cast<size_t>(dim)];
  at.clear();
  for (size_t i = 0; i < extent; ++i) {
    if (times[i] < 0 || times[i] > kMostPositions - static_cast<int64_t>(at.size()))
      return call.Fail("'%s' is to be repeated %lld times", x.name,
                       static_cast<long long>(times[i])),
             false;
    at.insert(at.end(), static_cast<size_t>(times[i]), static_cast<int64_t>(i));
  }
  return true;
}

namespace {

// Input `which` of meshgrid spread over all extents.
AxisMap SpreadOver(absl::Span<const int64_t> extents, size_t which) {
  AxisMap map(extents);
  for (size_t d = 0; d < extents.size(); ++d) {
    if (d == which) continue;
    map.x[d] = 1;
    std::fill(map.at[d].begin(), map.at[d].end(), 0);
  }
  return map;
}

bool MeshExtents(OpCall& call, std::vector<int64_t>& extents) {
  using A = args::dt_meshgrid;
  static_assert(A::X == args::dt_meshgrid_grad::X);
  int64_t product = 1;
  for (int i = 0; i < call.Count(A::X); ++i) {
    const DtBuffer& x = call.Arg(A::X, i);
    if (x.rank > 1) return call.Fail("'%s' has %d dims, expected one", x.name, x.rank), false;
    extents.push_back(Elements(x));
    if (__builtin_mul_overflow(product, extents.back(), &product))
      return call.Fail("the grid of '%s' and others is too large", x.name), false;
  }
  return true;
}

}  // namespace

// X -> Out
int32_t Meshgrid(OpCall& call) {
  using A = args::dt_meshgrid;
  std::vector<int64_t> extents;
  if (!MeshExtents(call, extents)) return 1;
  for (int i = 0; i < call.Count(A::Out); ++i) {
    if (!call.Has(A::Out, i)) continue;
    const DtBuffer& x = call.Arg(A::X, i);
    DtBuffer& out = call.Arg(A::Out, i);
    if (!SameType(call, x, out) || !call.Resize(out, extents)) return 1;
    if (GatherMapped(call, SpreadOver(extents, static_cast<size_t>(i)), x.data, out.data,
                     ElementSize(x), nullptr) != 0)
      return 1;
  }
  return 0;
}

// X, outputs@GRAD -> X@GRAD
int32_t MeshgridGrad(OpCall& call) {
  using A = args::dt_meshgrid_grad;
  std::vector<int64_t> extents;
  if (!MeshExtents(call, extents)) return 1;
  for (int i = 0; i < call.Count(A::X_GRAD); ++i) {
    if (!call.Has(A::X_GRAD, i)) continue;
    DtBuffer& dx = call.Arg(A::X_GRAD, i);
    if (!call.Resize(dx, call.Arg(A::X, i))) return 1;
    std::memset(dx.data, 0, static_cast<size_t>(Elements(dx) * ElementSize(dx)));
    if (!call.Has(A::outputs_GRAD, i)) continue;
    const DtBuffer& gradient = call.Arg(A::outputs_GRAD, i);
    if (OpCall::Dims(gradient) != absl::MakeConstSpan(extents))
      return call.Fail("'%s' has not the extents of the grid", gradient.name);
    if (!SameType(call, gradient, dx) ||
        AddMapped(call, SpreadOver(extents, static_cast<size_t>(i)), dx, gradient.data, dx.data) !=
            0)
      return 1;
  }
  return 0;
}

namespace {

// Extents that all of X broadcast to. Each has a place in the list of results.
bool CommonExtents(OpCall& call, int results, std::vector<int64_t>& extents) {
  using A = args::dt_broadcast_tensors;
  static_assert(A::X == args::dt_broadcast_tensors_grad::X);
  if (call.Count(results) != call.Count(A::X))
    return call.Fail("%d results of %d tensors", call.Count(results), call.Count(A::X)), false;
  for (int i = 0; i < call.Count(A::X); ++i) {
    const DtBuffer& x = call.Arg(A::X, i);
    const auto rank = static_cast<size_t>(x.rank);
    if (rank > extents.size()) extents.insert(extents.begin(), rank - extents.size(), 1);
    for (size_t d = 0; d < rank; ++d) {
      int64_t& extent = extents[extents.size() - rank + d];
      if (extent == 1) extent = x.dims[d];
      else if (x.dims[d] != 1 && x.dims[d] != extent)
        return call.Fail("'%s' does not broadcast with the tensors before it", x.name), false;
    }
  }
  return true;
}

}  // namespace

// X -> Out
int32_t BroadcastTensors(OpCall& call) {
  using A = args::dt_broadcast_tensors;
  std::vector<int64_t> extents;
  if (!CommonExtents(call, A::Out, extents)) return 1;
  for (int i = 0; i < call.Count(A::Out); ++i) {
    if (!call.Has(A::Out, i)) continue;
    const DtBuffer& x = call.Arg(A::X, i);
    DtBuffer& out = call.Arg(A::Out, i);
    AxisMap map(OpCall::Dims(x));
    if (!SameType(call, x, out) || !BroadcastTo(call, x.name, extents, map) ||
        !call.Resize(out, extents) ||
        GatherMapped(call, map, x.data, out.data, ElementSize(x), nullptr) != 0)
      return 1;
  }
  return 0;
}

// X, Out@GRAD -> X@GRAD
int32_t BroadcastTensorsGrad(OpCall& call) {
  using A = args::dt_broadcast_tensors_grad;
  std::vector<int64_t> extents;
  if (!CommonExtents(call, A::X_GRAD, extents)) return 1;
  for (int i = 0; i < call.Count(A::X_GRAD); ++i) {
    if (!call.Has(A::X_GRAD, i)) continue;
    DtBuffer& dx = call.Arg(A::X_GRAD, i);
    AxisMap map(OpCall::Dims(call.Arg(A::X, i)));
    if (!BroadcastTo(call, dx.name, extents, map) || !call.Resize(dx, call.Arg(A::X, i))) return 1;
    std::memset(dx.data, 0, static_cast<size_t>(Elements(dx) * ElementSize(dx)));
    if (!call.Has(A::Out_GRAD, i)) continue;
    const DtBuffer& gradient = call.Arg(A::Out_GRAD, i);
    if (OpCall::Dims(gradient) != absl::MakeConstSpan(extents))
      return call.Fail("'%s' has not the extents that all are broadcast to", gradient.name);
    if (!SameType(call, gradient, dx) || AddMapped(call, map, dx, gradient.data, dx.data) != 0)
      return 1;
  }
  return 0;
}

}  // namespace dtranspile::kernels
