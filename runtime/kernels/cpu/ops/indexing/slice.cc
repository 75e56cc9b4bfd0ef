// slice, strided_slice, set_value and their gradients: ranges of positions along some axes (phi
// slice, strided_slice, set_value).
#include <algorithm>
#include <cstring>
#include <limits>

#include "runtime/kernels/cpu/ops/indexing/calls.h"

namespace dtranspile::kernels {
namespace {

// Positions start, start + step, … as long as they are before `end` in the direction of the step.
bool Range(int64_t start, int64_t end, int64_t step, std::vector<int64_t>& at) {
  std::vector<int64_t> positions;
  if (step > 0) {
    for (int64_t p = start; p < end; p += std::min(step, end - p)) positions.push_back(p);
  } else if (step < 0) {
    for (int64_t p = start; p > end; p += std::max(step, end - p)) positions.push_back(p);
  } else {
    return false;
  }
  at = std::move(positions);
  return true;
}

int64_t FromEnd(int64_t at, int64_t n) { return at >= 0 ? at : at < -n ? -1 : at + n; }

// Bounds of slice and strided_slice: clamped to 0 … n; with a negative step only an end of -1 goes
// beyond the first position.
bool SlicePositions(int64_t n, int64_t start, int64_t end, int64_t step, std::vector<int64_t>& at) {
  const int64_t from = std::max<int64_t>(FromEnd(start, n), 0);
  const int64_t to = end == -1 && step < 0 ? -1 : std::max<int64_t>(FromEnd(end, n), 0);
  return step < 0 ? Range(std::min(from, n - 1), to, step, at)
                  : Range(from, std::min(to, n), step, at);
}

// Bounds of set_value: those of Python.
bool SetPositions(int64_t n, int64_t start, int64_t end, int64_t step, std::vector<int64_t>& at) {
  const int64_t from = FromEnd(start, n), to = FromEnd(end, n);
  if (step < 0) return Range(std::min(from, n - 1), std::max<int64_t>(to, -1), step, at);
  return Range(std::max<int64_t>(from, 0), std::min(std::max<int64_t>(to, 0), n), step, at);
}

struct Bounds {
  std::vector<int64_t> axes, starts, ends, steps;
};

// Takes the ranges of the axes out of the map.
bool Narrow(OpCall& call, const DtBuffer& x, const Bounds& b,
            bool (*positions)(int64_t, int64_t, int64_t, int64_t, std::vector<int64_t>&),
            AxisMap& map) {
  if (b.starts.size() != b.axes.size() || b.ends.size() != b.axes.size() ||
      b.steps.size() != b.axes.size())
    return call.Fail("%zu starts, %zu ends and %zu steps for %zu axes of '%s'", b.starts.size(),
                     b.ends.size(), b.steps.size(), b.axes.size(), x.name),
           false;
  for (size_t k = 0; k < b.axes.size(); ++k) {
    int64_t axis = b.axes[k];
    if (!NormalAxis(call, x, axis)) return false;
    if (!positions(x.dims[axis], b.starts[k], b.ends[k], b.steps[k],
                   map.at[static_cast<size_t>(axis)]))
      return call.Fail("step 0 along axis %lld of '%s'", static_cast<long long>(axis), x.name),
             false;
  }
  return true;
}

// Extents without the dims listed, each of which must be 1.
bool Drop(OpCall& call, const DtBuffer& x, absl::Span<const int64_t> dropped,
          std::vector<int64_t>& dims) {
  std::vector<bool> drop(dims.size(), false);
  for (int64_t axis : dropped) {
    if (!NormalAxis(call, x, axis)) return false;
    if (dims[static_cast<size_t>(axis)] != 1)
      return call.Fail("axis %lld of '%s' is to be dropped, but %lld of its positions are taken",
                       static_cast<long long>(axis), x.name,
                       static_cast<long long>(dims[static_cast<size_t>(axis)])),
             false;
    drop[static_cast<size_t>(axis)] = true;
  }
  std::vector<int64_t> kept;
  for (size_t d = 0; d < dims.size(); ++d)
    if (!drop[d]) kept.push_back(dims[d]);
  dims = std::move(kept);
  return true;
}

}  // namespace

// Input, StartsTensor, EndsTensor, StridesTensor, StartsTensorList, EndsTensorList,
// StridesTensorList; axes, starts, ends, decrease_axis, @version, strides: slice has none of these
bool SliceMap(OpCall& call, const DtBuffer& x, AxisMap& map) {
  using A = args::dt_slice;
  static_assert(A::EndsTensor == args::dt_slice_grad::EndsTensor &&
                A::EndsTensorList == args::dt_slice_grad::EndsTensorList &&
                A::StartsTensor == args::dt_slice_grad::StartsTensor &&
                A::StartsTensorList == args::dt_slice_grad::StartsTensorList &&
                A::StridesTensor == args::dt_slice_grad::StridesTensor &&
                A::StridesTensorList == args::dt_slice_grad::StridesTensorList &&
                A::axes == args::dt_slice_grad::axes &&
                A::decrease_axis == args::dt_slice_grad::decrease_axis &&
                A::ends == args::dt_slice_grad::ends && A::starts == args::dt_slice_grad::starts &&
                A::strides == args::dt_slice_grad::strides &&
                A::version == args::dt_slice_grad::version);
  Bounds b;
  const auto axes = call.Ints(A::axes);
  b.axes.assign(axes.begin(), axes.end());
  b.steps.assign(axes.size(), 1);
  if (!NumbersFrom(call, A::StartsTensorList, A::StartsTensor, call.Ints(A::starts), b.starts) ||
      !NumbersFrom(call, A::EndsTensorList, A::EndsTensor, call.Ints(A::ends), b.ends))
    return false;
  const bool strided =
      call.Given(A::strides) || call.Has(A::StridesTensor) || call.Has(A::StridesTensorList);
  if (strided &&
      !NumbersFrom(call, A::StridesTensorList, A::StridesTensor, call.Ints(A::strides), b.steps))
    return false;
  std::vector<int64_t> dims;
  if (!Narrow(call, x, b, SlicePositions, map)) return false;
  dims = map.Extents();
  const bool some = !dims.empty();
  if (!Drop(call, x, call.Ints(A::decrease_axis), dims)) return false;
  // What is left of all is a scalar: [1] up to 2.4, [] from 2.5 on.
  if (dims.empty() && some && call.Int(A::version) < 2005000) dims = {1};
  map.SetOut(std::move(dims));
  return true;
}

namespace {

// The region that set_value writes: its positions in Input, and its extents as the value sees them.
// … ; axes, starts, ends, steps, decrease_axes, none_axes
bool RegionOf(OpCall& call, const DtBuffer& x, AxisMap& map, std::vector<int64_t>& dims) {
  using A = args::dt_set_value;
  static_assert(A::axes == args::dt_set_value_grad::axes &&
                A::decrease_axes == args::dt_set_value_grad::decrease_axes &&
                A::ends == args::dt_set_value_grad::ends &&
                A::none_axes == args::dt_set_value_grad::none_axes &&
                A::starts == args::dt_set_value_grad::starts &&
                A::steps == args::dt_set_value_grad::steps &&
                A::StartsTensorList == args::dt_set_value_grad::StartsTensorList &&
                A::EndsTensorList == args::dt_set_value_grad::EndsTensorList &&
                A::StepsTensorList == args::dt_set_value_grad::StepsTensorList);
  Bounds b;
  const auto axes = call.Ints(A::axes);
  b.axes.assign(axes.begin(), axes.end());
  if (!NumbersFrom(call, A::StartsTensorList, -1, call.Ints(A::starts), b.starts) ||
      !NumbersFrom(call, A::EndsTensorList, -1, call.Ints(A::ends), b.ends) ||
      !NumbersFrom(call, A::StepsTensorList, -1, call.Ints(A::steps), b.steps) ||
      !Narrow(call, x, b, SetPositions, map))
    return false;
  std::vector<int64_t> kept = map.Extents();
  if (!Drop(call, x, call.Ints(A::decrease_axes), kept)) return false;
  const auto none = call.Ints(A::none_axes);
  size_t next = 0;
  for (size_t d = 0; d <= kept.size(); ++d) {
    for (; next < none.size() && (none[next] <= static_cast<int64_t>(d) || d == kept.size());
         ++next)
      dims.push_back(1);
    if (d < kept.size()) dims.push_back(kept[d]);
  }
  return true;
}

// A value of extents `given` spread over the region; dims of 1 in front that the region lacks are
// left out.
bool SpreadValue(OpCall& call, const char* name, absl::Span<const int64_t> given,
                 absl::Span<const int64_t> region, AxisMap& map) {
  while (given.size() > region.size() && given.front() == 1) given.remove_prefix(1);
  map = AxisMap(given);
  return BroadcastTo(call, name, region, map);
}

// Room for the elements of a region; null (with a message) without memory.
void* RegionScratch(OpCall& call, absl::Span<const int64_t> dims, int64_t& bytes) {
  for (int64_t d : dims) bytes *= d;
  void* dense = dt_scratch(call.context(), std::max<int64_t>(bytes, 1));
  if (dense == nullptr) call.Fail("no memory for %lld bytes", static_cast<long long>(bytes));
  return dense;
}

// Numbers of the attributes `values` and `shape` as elements of Input's type.
bool ValuesOf(OpCall& call, const DtBuffer& x, std::vector<char>& bytes) {
  using A = args::dt_set_value;
  const auto values = call.Reals(A::values);
  const auto size = static_cast<size_t>(ElementSize(x));
  int64_t count = 1;
  for (int64_t d : call.Ints(A::shape))
    if (d < 0 || __builtin_mul_overflow(count, d, &count))
      return call.Fail("the shape of the values for '%s' is out of range", x.name), false;
  if (static_cast<int64_t>(values.size()) != count)
    return call.Fail("%zu values for '%s' where their shape has %lld elements", values.size(),
                     x.name, static_cast<long long>(count)),
           false;
  bytes.resize(values.size() * size);
  for (size_t i = 0; i < values.size(); ++i)
    if (!NumberTo(call, x, values[i], bytes.data() + i * size)) return false;
  return true;
}

}  // namespace

// Input, ValueTensor, StartsTensorList, EndsTensorList, StepsTensorList; axes, starts, ends, steps,
// decrease_axes, none_axes, values, shape -> Out
int32_t SetValue(OpCall& call) {
  using A = args::dt_set_value;
  const DtBuffer& x = call.Arg(A::Input);
  DtBuffer& out = call.Arg(A::Out);
  AxisMap region(OpCall::Dims(x)), spread;
  std::vector<int64_t> dims;
  std::vector<char> bytes;
  if (!SameType(call, x, out) || !RegionOf(call, x, region, dims)) return 1;
  const void* values = nullptr;
  if (call.Has(A::ValueTensor)) {
    const DtBuffer& value = call.Arg(A::ValueTensor);
    if (!SameType(call, x, value) ||
        !SpreadValue(call, value.name, OpCall::Dims(value), dims, spread))
      return 1;
    values = value.data;
  } else {
    if (!ValuesOf(call, x, bytes) || !SpreadValue(call, x.name, call.Ints(A::shape), dims, spread))
      return 1;
    values = bytes.data();
  }
  if (!call.Resize(out, x)) return 1;
  const int64_t size = ElementSize(x);
  int64_t region_bytes = size;
  void* dense = RegionScratch(call, dims, region_bytes);
  if (dense == nullptr) return 1;
  std::memcpy(out.data, x.data, static_cast<size_t>(Elements(x) * size));
  if (GatherMapped(call, spread, values, dense, size, nullptr) != 0) return 1;
  return PutMapped(call, region, dense, out.data, size);
}

// Out@GRAD, ValueTensor, StartsTensorList, EndsTensorList, StepsTensorList; axes … none_axes,
// @needed -> Input@GRAD, ValueTensor@GRAD
int32_t SetValueGrad(OpCall& call) {
  using A = args::dt_set_value_grad;
  const DtBuffer& gradient = call.Arg(A::Out_GRAD);
  AxisMap region(OpCall::Dims(gradient)), spread;
  std::vector<int64_t> dims;
  if (!RegionOf(call, gradient, region, dims)) return 1;
  const int64_t size = ElementSize(gradient);
  int64_t bytes = size;
  void* dense = RegionScratch(call, dims, bytes);
  if (dense == nullptr) return 1;
  if (call.Has(A::Input_GRAD)) {
    DtBuffer& dx = call.Arg(A::Input_GRAD);
    if (!SameType(call, gradient, dx) || !call.Resize(dx, gradient)) return 1;
    std::memcpy(dx.data, gradient.data, static_cast<size_t>(Elements(gradient) * size));
    std::memset(dense, 0, static_cast<size_t>(bytes));
    if (PutMapped(call, region, dense, dx.data, size) != 0) return 1;
  }
  if (!call.Has(A::ValueTensor_GRAD)) return 0;
  DtBuffer& dv = call.Arg(A::ValueTensor_GRAD);
  const DtBuffer& value = call.Arg(A::ValueTensor);
  if (!SameType(call, gradient, dv) ||
      !SpreadValue(call, value.name, OpCall::Dims(value), dims, spread) || !call.Resize(dv, value))
    return 1;
  std::memset(dv.data, 0, static_cast<size_t>(Elements(dv) * size));
  if (GatherMapped(call, region, gradient.data, dense, size, nullptr) != 0) return 1;
  return AddMapped(call, spread, dv, dense, dv.data);
}

}  // namespace dtranspile::kernels
