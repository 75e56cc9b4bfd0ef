// frame and overlap_add: a signal as frames of some length, one every `hop_length` places, and the
// sum of such frames; each is the gradient of the other (phi frame, overlap_add). `axis` is −1,
// where frames are [..., frame_length, frames], or 0, where they are [frames, frame_length, ...].
#include <cstring>
#include <vector>

#include "runtime/kernels/cpu/ops/shape/calls.h"

namespace dtranspile::kernels {
namespace {

struct Frames {
  int64_t length = 0, count = 0, hop = 0;
  bool first = false;  // along dim 0
};

bool StepsOf(OpCall& call, int64_t axis, int64_t hop, Frames& frames) {
  if (axis != 0 && axis != -1)
    return call.Fail("axis %lld, expected 0 or -1", static_cast<long long>(axis)), false;
  if (hop < 1) return call.Fail("a frame every %lld places", static_cast<long long>(hop)), false;
  frames.hop = hop, frames.first = axis == 0;
  return true;
}

// The map's signal as its frames.
bool MapTo(OpCall& call, const Frames& frames, AxisMap& map) {
  int64_t places = 0;
  if (__builtin_mul_overflow(frames.length, frames.count, &places) || places > kMostPositions)
    return call.Fail("%lld frames of %lld places are too many",
                     static_cast<long long>(frames.count), static_cast<long long>(frames.length)),
           false;
  std::vector<int64_t> dims = map.x;
  std::vector<int64_t>& at = frames.first ? map.at.front() : map.at.back();
  at.clear();
  const int64_t outer = frames.first ? frames.count : frames.length,
                inner = frames.first ? frames.length : frames.count;
  for (int64_t i = 0; i < outer; ++i)
    for (int64_t j = 0; j < inner; ++j)
      at.push_back(frames.first ? i * frames.hop + j : j * frames.hop + i);
  const auto place = frames.first ? dims.begin() : dims.end() - 1;
  *place = inner;
  dims.insert(place, outer);
  map.SetOut(std::move(dims));
  return true;
}

// Frames of overlap_add and the extents of their sum.
bool FramesOf(OpCall& call, const DtBuffer& x, int64_t axis, int64_t hop, Frames& frames,
              std::vector<int64_t>& dims) {
  if (!StepsOf(call, axis, hop, frames)) return false;
  if (x.rank < 2) return call.Fail("'%s' has %d dims, expected 2 or more", x.name, x.rank), false;
  const int32_t at = frames.first ? 0 : x.rank - 2;
  frames.length = x.dims[frames.first ? 1 : at], frames.count = x.dims[frames.first ? 0 : at + 1];
  if (hop > frames.length || frames.count < 1)
    return call.Fail("%lld frames of %lld places in '%s', one every %lld",
                     static_cast<long long>(frames.count), static_cast<long long>(frames.length),
                     x.name, static_cast<long long>(hop)),
           false;
  dims.assign(x.dims, x.dims + x.rank);
  dims.erase(dims.begin() + at);
  dims[static_cast<size_t>(at)] = (frames.count - 1) * hop + frames.length;
  return true;
}

}  // namespace

// X; frame_length, hop_length, axis
bool FrameMap(OpCall& call, const DtBuffer& x, AxisMap& map) {
  using A = args::dt_frame;
  static_assert(A::frame_length == args::dt_frame_grad::frame_length &&
                A::hop_length == args::dt_frame_grad::hop_length &&
                A::axis == args::dt_frame_grad::axis);
  Frames frames;
  frames.length = call.Int(A::frame_length);
  if (!StepsOf(call, call.Int(A::axis), call.Int(A::hop_length), frames)) return false;
  if (x.rank < 1) return call.Fail("'%s' has no dim to cut frames from", x.name), false;
  const int64_t extent = frames.first ? x.dims[0] : x.dims[x.rank - 1];
  if (frames.length < 1 || frames.length > extent)
    return call.Fail("frames of %lld places in '%s' of %lld", static_cast<long long>(frames.length),
                     x.name, static_cast<long long>(extent)),
           false;
  frames.count = 1 + (extent - frames.length) / frames.hop;
  return MapTo(call, frames, map);
}

// X; hop_length, axis -> Out
int32_t OverlapAdd(OpCall& call) {
  using A = args::dt_overlap_add;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  Frames frames;
  std::vector<int64_t> dims;
  if (!FramesOf(call, x, call.Int(A::axis), call.Int(A::hop_length), frames, dims)) return 1;
  AxisMap map(dims);
  if (!MapTo(call, frames, map) || !call.Resize(out, dims)) return 1;
  std::memset(out.data, 0, static_cast<size_t>(Elements(out) * ElementSize(out)));
  return AddMapped(call, map, out, x.data, out.data);
}

// X, Out@GRAD; hop_length, axis -> X@GRAD
int32_t OverlapAddGrad(OpCall& call) {
  using A = args::dt_overlap_add_grad;
  const DtBuffer &x = call.Arg(A::X), &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  Frames frames;
  std::vector<int64_t> dims;
  if (!FramesOf(call, x, call.Int(A::axis), call.Int(A::hop_length), frames, dims)) return 1;
  if (OpCall::Dims(gradient) != absl::MakeConstSpan(dims))
    return call.Fail("'%s' has not the extents of the sum of '%s'", gradient.name, x.name);
  AxisMap map(dims);
  if (!MapTo(call, frames, map) || !call.Resize(dx, x)) return 1;
  return GatherMapped(call, map, gradient.data, dx.data, ElementSize(dx), nullptr);
}

}  // namespace dtranspile::kernels
