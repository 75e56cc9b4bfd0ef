// Blocks of space and channels exchanged: pixel_shuffle, pixel_unshuffle, space_to_depth,
// shuffle_channel, channel_shuffle, temporal_shift and their gradients. All but the last are the
// input seen in more dims, those permuted, seen as the output (phi pixel_shuffle, pixel_unshuffle,
// channel_shuffle, temporal_shift; 1.x space_to_depth, shuffle_channel).
#include <cstring>

#include "runtime/kernels/cpu/ops/shape/calls.h"

namespace dtranspile::kernels {
namespace {

struct Image {
  int64_t n, c, h, w;
  bool last;  // channels are the last dim

  std::vector<int64_t> Dims(int64_t channels, int64_t height, int64_t width) const {
    return last ? std::vector<int64_t>{n, height, width, channels}
                : std::vector<int64_t>{n, channels, height, width};
  }
};

bool ImageOf(OpCall& call, const DtBuffer& x, std::string_view format, Image& image) {
  if (x.rank != 4) return call.Fail("'%s' has %d dims, expected 4", x.name, x.rank), false;
  const bool last = format == "NHWC";
  image = {x.dims[0], x.dims[last ? 3 : 1], x.dims[last ? 1 : 2], x.dims[last ? 2 : 3], last};
  return true;
}

// The layout of ops that have one; others are NCHW.
std::string_view FormatOf(OpCall& call, int attr) {
  return call.Given(attr) ? call.Text(attr) : "NCHW";
}

bool Divides(OpCall& call, const DtBuffer& x, const char* what, int64_t extent, int64_t by) {
  if (by > 0 && extent % by == 0) return true;
  return call.Fail("'%s' has %lld %s, no multiple of %lld", x.name, static_cast<long long>(extent),
                   what, static_cast<long long>(by)),
         false;
}

bool FactorIs(OpCall& call, int64_t r) {
  if (r >= 1 && r <= 65536) return true;
  return call.Fail("a factor of %lld", static_cast<long long>(r)), false;
}

// `out` of extents `dims`: x seen as `view`, its dims in the order `order`.
int32_t Permute(OpCall& call, const DtBuffer& x, absl::Span<const int64_t> view,
                absl::Span<const int> order, DtBuffer& out, absl::Span<const int64_t> dims) {
  if (!SameType(call, x, out) || !call.Resize(out, dims)) return 1;
  std::vector<int64_t> strides(view.size(), 1), extents, walked;
  for (size_t d = view.size() - 1; d-- > 0;) strides[d] = strides[d + 1] * view[d + 1];
  for (int d : order) {
    extents.push_back(view[static_cast<size_t>(d)]);
    walked.push_back(strides[static_cast<size_t>(d)]);
  }
  return GatherStrided(call, extents, walked, x.data, out.data, ElementSize(x));
}

// Squares of r×r channels to r times the height and width.
int32_t ChannelsToSpace(OpCall& call, const DtBuffer& x, const Image& m, int64_t r, DtBuffer& out) {
  if (!FactorIs(call, r) || !Divides(call, x, "channels", m.c, r * r)) return 1;
  const int64_t c = m.c / (r * r);
  const std::vector<int64_t> dims = m.Dims(c, m.h * r, m.w * r);
  if (m.last) return Permute(call, x, {m.n, m.h, m.w, c, r, r}, {0, 1, 4, 2, 5, 3}, out, dims);
  return Permute(call, x, {m.n, c, r, r, m.h, m.w}, {0, 1, 4, 2, 5, 3}, out, dims);
}

int32_t SpaceToChannels(OpCall& call, const DtBuffer& x, const Image& m, int64_t r, DtBuffer& out) {
  if (!FactorIs(call, r) || !Divides(call, x, "rows", m.h, r) ||
      !Divides(call, x, "columns", m.w, r))
    return 1;
  const int64_t h = m.h / r, w = m.w / r;
  const std::vector<int64_t> dims = m.Dims(m.c * r * r, h, w);
  if (m.last) return Permute(call, x, {m.n, h, r, w, r, m.c}, {0, 1, 3, 5, 2, 4}, out, dims);
  return Permute(call, x, {m.n, m.c, h, r, w, r}, {0, 1, 3, 5, 2, 4}, out, dims);
}

// Channels as [from, c / from] to [c / from, from].
int32_t SwapGroups(OpCall& call, std::string_view format, bool back) {
  using A = args::dt_shuffle_channel;
  static_assert(A::groups == args::dt_shuffle_channel_back::groups &&
                A::X == args::dt_shuffle_channel_back::X &&
                A::Out == args::dt_shuffle_channel_back::Out);
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  Image m;
  int64_t groups = call.Int(A::groups);
  if (!ImageOf(call, x, format, m) || !Divides(call, x, "channels", m.c, groups)) return 1;
  if (back) groups = m.c / groups;
  if (groups == 0) groups = 1;
  const int64_t spatial = m.h * m.w;
  if (m.last)
    return Permute(call, x, {m.n, spatial, groups, m.c / groups}, {0, 1, 3, 2}, out,
                   OpCall::Dims(x));
  return Permute(call, x, {m.n, groups, m.c / groups, spatial}, {0, 2, 1, 3}, out, OpCall::Dims(x));
}

}  // namespace

// X; upscale_factor, data_format -> Out. The gradient of pixel_unshuffle alike.
int32_t PixelShuffle(OpCall& call) {
  using A = args::dt_pixel_shuffle;
  Image m;
  const DtBuffer& x = call.Arg(A::X);
  return ImageOf(call, x, call.Text(A::data_format), m)
             ? ChannelsToSpace(call, x, m, call.Int(A::upscale_factor), call.Arg(A::Out))
             : 1;
}

// X; downscale_factor, data_format -> Out. The gradient of pixel_shuffle alike.
int32_t PixelUnshuffle(OpCall& call) {
  using A = args::dt_pixel_unshuffle;
  Image m;
  const DtBuffer& x = call.Arg(A::X);
  return ImageOf(call, x, call.Text(A::data_format), m)
             ? SpaceToChannels(call, x, m, call.Int(A::downscale_factor), call.Arg(A::Out))
             : 1;
}

// X; blocksize -> Out. Channel (i, j, c) of pixel (h, w) goes to place (c, h, i, w, j) of the
// memory of Out: the order of the framework.
int32_t SpaceToDepth(OpCall& call) {
  using A = args::dt_space_to_depth;
  Image m;
  const DtBuffer& x = call.Arg(A::X);
  const int64_t r = call.Int(A::blocksize);
  if (!ImageOf(call, x, "NCHW", m) || !FactorIs(call, r) || !Divides(call, x, "rows", m.h, r) ||
      !Divides(call, x, "columns", m.w, r) ||
      !Divides(call, x, "channels per row of a block", m.c, r) ||
      !Divides(call, x, "channels per block", m.c / r, r))
    return 1;
  return Permute(call, x, {m.n, r, r, m.c / r / r, m.h, m.w}, {0, 3, 4, 1, 5, 2}, call.Arg(A::Out),
                 m.Dims(m.c * r * r, m.h / r, m.w / r));
}

// X, Out@GRAD; blocksize -> X@GRAD
int32_t SpaceToDepthGrad(OpCall& call) {
  using A = args::dt_space_to_depth_grad;
  Image m;
  const DtBuffer &x = call.Arg(A::X), &gradient = call.Arg(A::Out_GRAD);
  const int64_t r = call.Int(A::blocksize);
  if (!ImageOf(call, x, "NCHW", m) || !FactorIs(call, r) ||
      !Divides(call, x, "channels per row of a block", m.c, r) ||
      !Divides(call, x, "channels per block", m.c / r, r))
    return 1;
  if (Elements(gradient) != Elements(x))
    return call.Fail("'%s' has not as many elements as '%s'", gradient.name, x.name);
  return Permute(call, gradient, {m.n, m.c / r / r, m.h, r, m.w, r}, {0, 3, 5, 1, 2, 4},
                 call.Arg(A::X_GRAD), OpCall::Dims(x));
}

// X; groups, data_format -> Out
int32_t ShuffleChannel(OpCall& call) {
  return SwapGroups(call, FormatOf(call, args::dt_shuffle_channel::data_format), false);
}
int32_t ShuffleChannelBack(OpCall& call) {
  return SwapGroups(call, FormatOf(call, args::dt_shuffle_channel_back::data_format), true);
}

// X; seg_num, shift_ratio, data_format, back -> Out: of `seg_num` frames the first part of the
// channels comes from the frame before, the next from the one after it, 0 beyond the ends. The
// gradient shifts the other way.
int32_t TemporalShift(OpCall& call) {
  using A = args::dt_temporal_shift;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  Image m;
  const int64_t frames = call.Int(A::seg_num);
  if (!ImageOf(call, x, call.Text(A::data_format), m) || !Divides(call, x, "images", m.n, frames) ||
      !SameType(call, x, out) || !call.Resize(out, x))
    return 1;
  const auto ratio = static_cast<float>(call.Real(A::shift_ratio));
  const auto c = static_cast<float>(m.c);
  if (!(ratio >= 0 && ratio <= 0.5F))
    return call.Fail("shift ratio %g is not within 0 and 0.5", static_cast<double>(ratio));
  const auto before = static_cast<int64_t>(c * ratio), after = static_cast<int64_t>(c * 2 * ratio);
  const int64_t step = call.Text(A::type) == "temporal_shift_grad" ? 1 : -1;
  // Runs of one channel (or of a part of the channels of one pixel) and what one image holds of
  // them.
  const int64_t size = ElementSize(x), inner = m.last ? size : m.h * m.w * size,
                pixels = m.last ? m.h * m.w : 1, image = m.c * m.h * m.w * size;
  const int64_t ends[] = {0, before, after, m.c}, shifts[] = {step, -step, 0};
  Parallel(call.context(), m.n, GrainFor(2 * image), [&](int64_t lo, int64_t n) {
    for (int64_t i = lo; i < lo + n; ++i)
      for (int part = 0; part < 3; ++part) {
        const int64_t from = i % frames + shifts[part];
        const bool inside = from >= 0 && from < frames;
        const auto bytes = static_cast<size_t>((ends[part + 1] - ends[part]) * inner);
        for (int64_t p = 0; p < pixels; ++p) {
          const int64_t at = i * image + p * m.c * size + ends[part] * inner;
          if (inside)
            std::memcpy(Data<char>(out) + at, Data<char>(x) + at + shifts[part] * image, bytes);
          else std::memset(Data<char>(out) + at, 0, bytes);
        }
      }
  });
  return 0;
}

}  // namespace dtranspile::kernels
