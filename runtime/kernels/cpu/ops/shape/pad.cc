// Paddings and crops: pad, pad2d, pad3d (constant, reflect, replicate, circular),
// pad_constant_like, crop, crop_tensor (phi pad, pad3d, crop_tensor; 1.x pad2d, pad_constant_like,
// crop).
#include <algorithm>

#include "runtime/kernels/cpu/ops/shape/calls.h"

namespace dtranspile::kernels {
namespace {

enum class Mode { kConstant, kReflect, kEdge, kCircular };

bool ModeOf(OpCall& call, std::string_view text, Mode& mode) {
  constexpr std::pair<std::string_view, Mode> kModes[] = {{"constant", Mode::kConstant},
                                                          {"reflect", Mode::kReflect},
                                                          {"edge", Mode::kEdge},
                                                          {"replicate", Mode::kEdge},
                                                          {"circular", Mode::kCircular}};
  for (const auto& [name, value] : kModes)
    if (name == text) return mode = value, true;
  return call.Fail("padding mode '%.*s' is not known", static_cast<int>(text.size()), text.data()),
         false;
}

// Position along a dim of `n` for position i of the padded one, i from the first position of x on.
int64_t Position(Mode mode, int64_t i, int64_t n) {
  if (i >= 0 && i < n) return i;
  switch (mode) {
    case Mode::kReflect: return i < 0 ? -i : 2 * (n - 1) - i;
    case Mode::kEdge: return std::clamp<int64_t>(i, 0, n - 1);
    case Mode::kCircular: return (i % n + n) % n;
    default: return -1;
  }
}

// Dim d of the map with `before` and `after` positions more; negative ones cut.
bool PadDim(OpCall& call, const DtBuffer& x, AxisMap& map, size_t d, int64_t before, int64_t after,
            Mode mode) {
  const int64_t n = map.x[d];
  const bool reflects = mode == Mode::kReflect;
  int64_t extent = 0;
  if (__builtin_add_overflow(n, before, &extent) ||
      __builtin_add_overflow(extent, after, &extent) || extent < 0 || extent > kMostPositions ||
      before > kMostPositions || before < -kMostPositions ||
      (mode != Mode::kConstant && n == 0 && extent > 0) ||
      (reflects && (before >= n || after >= n) && n > 0))
    return call.Fail("dim %zu of '%s' has %lld positions, which cannot be padded by %lld and %lld",
                     d, x.name, static_cast<long long>(n), static_cast<long long>(before),
                     static_cast<long long>(after)),
           false;
  map.at[d].resize(static_cast<size_t>(extent));
  for (int64_t i = 0; i < extent; ++i)
    map.at[d][static_cast<size_t>(i)] = Position(mode, i - before, n);
  return true;
}

// Pairs (before, after) for `dims` from the innermost one out, as pad3d gives them, or as they
// come.
bool PadImage(OpCall& call, const DtBuffer& x, AxisMap& map, absl::Span<const int> dims,
              absl::Span<const int64_t> paddings) {
  using A = args::dt_pad2d;
  static_assert(A::mode == args::dt_pad2d_grad::mode &&
                A::pad_value == args::dt_pad2d_grad::pad_value);
  static_assert(A::mode == args::dt_pad3d::mode && A::pad_value == args::dt_pad3d::pad_value);
  static_assert(A::mode == args::dt_pad3d_grad::mode &&
                A::pad_value == args::dt_pad3d_grad::pad_value);
  Mode mode = Mode::kConstant;
  if (!ModeOf(call, call.Text(A::mode), mode)) return false;
  map.fill = call.Real(A::pad_value);
  if (paddings.size() != 2 * dims.size())
    return call.Fail("%zu paddings for %zu dims of '%s'", paddings.size(), dims.size(), x.name),
           false;
  for (size_t k = 0; k < dims.size(); ++k)
    if (!PadDim(call, x, map, static_cast<size_t>(dims[k]), paddings[2 * k], paddings[2 * k + 1],
                mode))
      return false;
  return true;
}

bool RankIs(OpCall& call, const DtBuffer& x, int32_t rank) {
  if (x.rank == rank) return true;
  return call.Fail("'%s' has %d dims, expected %d", x.name, x.rank, rank), false;
}

// Positions [offset, offset + extent) of every dim.
bool Window(OpCall& call, const DtBuffer& x, absl::Span<const int64_t> offsets,
            absl::Span<const int64_t> extents, AxisMap& map) {
  if (static_cast<int32_t>(offsets.size()) != x.rank ||
      static_cast<int32_t>(extents.size()) != x.rank)
    return call.Fail("%zu offsets and %zu extents for '%s' of %d dims", offsets.size(),
                     extents.size(), x.name, x.rank),
           false;
  for (size_t d = 0; d < offsets.size(); ++d) {
    const int64_t n = map.x[d];
    const bool inside = offsets[d] >= 0 && offsets[d] <= n;
    const int64_t extent = inside && extents[d] == -1 ? n - offsets[d] : extents[d];
    if (!inside || extent < 0 || extent > n - offsets[d])
      return call.Fail("%lld positions from %lld on are not within dim %zu of '%s', which has %lld",
                       static_cast<long long>(extents[d]), static_cast<long long>(offsets[d]), d,
                       x.name, static_cast<long long>(n)),
             false;
    map.at[d].assign(map.at[d].begin() + offsets[d], map.at[d].begin() + offsets[d] + extent);
  }
  return true;
}

}  // namespace

// X; paddings, pad_value: pairs (before, after) of every dim
bool PadMap(OpCall& call, const DtBuffer& x, AxisMap& map) {
  using A = args::dt_pad;
  const auto paddings = call.Ints(A::paddings);
  map.fill = call.Real(A::pad_value);
  if (paddings.size() != 2 * map.x.size())
    return call.Fail("%zu paddings for '%s' of %d dims", paddings.size(), x.name, x.rank), false;
  for (size_t d = 0; d < map.x.size(); ++d)
    if (!PadDim(call, x, map, d, paddings[2 * d], paddings[2 * d + 1], Mode::kConstant))
      return false;
  return true;
}

// Out@GRAD; paddings: what padding added is cut off, what it cut off is 0
bool UnpadMap(OpCall& call, const DtBuffer& gradient, AxisMap& map) {
  using A = args::dt_unpad;
  const auto paddings = call.Ints(A::paddings);
  if (paddings.size() != 2 * map.x.size())
    return call.Fail("%zu paddings for '%s' of %d dims", paddings.size(), gradient.name,
                     gradient.rank),
           false;
  for (size_t d = 0; d < map.x.size(); ++d) {
    if (paddings[2 * d] == INT64_MIN || paddings[2 * d + 1] == INT64_MIN)
      return call.Fail("a padding of '%s' is out of range", gradient.name), false;
    if (!PadDim(call, gradient, map, d, -paddings[2 * d], -paddings[2 * d + 1], Mode::kConstant))
      return false;
  }
  return true;
}

// X, Paddings; paddings, mode, pad_value, data_format: top, bottom, left, right
bool Pad2dMap(OpCall& call, const DtBuffer& x, AxisMap& map) {
  using A = args::dt_pad2d;
  static_assert(A::Paddings == args::dt_pad2d_grad::Paddings &&
                A::data_format == args::dt_pad2d_grad::data_format &&
                A::paddings == args::dt_pad2d_grad::paddings);
  std::vector<int64_t> paddings;
  if (!RankIs(call, x, 4) || !NumbersFrom(call, -1, A::Paddings, call.Ints(A::paddings), paddings))
    return false;
  const bool last = call.Text(A::data_format) == "NHWC";
  const int dims[] = {last ? 1 : 2, last ? 2 : 3};
  return PadImage(call, x, map, dims, paddings);
}

// X, Paddings; paddings, mode, value, data_format: left, right, top, bottom, front, back
bool Pad3dMap(OpCall& call, const DtBuffer& x, AxisMap& map) {
  using A = args::dt_pad3d;
  static_assert(A::Paddings == args::dt_pad3d_grad::Paddings &&
                A::data_format == args::dt_pad3d_grad::data_format &&
                A::paddings == args::dt_pad3d_grad::paddings);
  std::vector<int64_t> paddings;
  if (!RankIs(call, x, 5) || !NumbersFrom(call, -1, A::Paddings, call.Ints(A::paddings), paddings))
    return false;
  const bool last = call.Text(A::data_format) == "NDHWC";
  const int dims[] = {last ? 3 : 4, last ? 2 : 3, last ? 1 : 2};
  return PadImage(call, x, map, dims, paddings);
}

// X, Y, Offsets, OffsetsTensor; offsets, shape: extents of Y where it is given (in gradients
// Out@GRAD)
bool CropMap(OpCall& call, const DtBuffer& x, AxisMap& map) {
  using A = args::dt_crop;
  static_assert(A::Offsets == args::dt_crop_grad::Offsets &&
                A::OffsetsTensor == args::dt_crop_grad::OffsetsTensor &&
                A::Y == args::dt_crop_grad::Y && A::offsets == args::dt_crop_grad::offsets &&
                A::shape == args::dt_crop_grad::shape);
  std::vector<int64_t> offsets;
  if (!NumbersFrom(call, A::OffsetsTensor, A::Offsets, call.Ints(A::offsets), offsets))
    return false;
  return Window(call, x, offsets,
                call.Has(A::Y) ? OpCall::Dims(call.Arg(A::Y)) : call.Ints(A::shape), map);
}

// X, Shape, ShapeTensor, Offsets, OffsetsTensor; offsets, shape: an extent of -1 goes to the end
bool CropTensorMap(OpCall& call, const DtBuffer& x, AxisMap& map) {
  using A = args::dt_crop_tensor;
  std::vector<int64_t> offsets, extents;
  return NumbersFrom(call, A::OffsetsTensor, A::Offsets, call.Ints(A::offsets), offsets) &&
         NumbersFrom(call, A::ShapeTensor, A::Shape, call.Ints(A::shape), extents) &&
         Window(call, x, offsets, extents, map);
}

namespace {

// Y in a corner of something with the extents of `like`.
bool CornerMap(OpCall& call, const DtBuffer& y, const DtBuffer& like, AxisMap& map) {
  if (!RankIs(call, y, like.rank)) return false;
  for (size_t d = 0; d < map.x.size(); ++d) {
    if (like.dims[d] < y.dims[d])
      return call.Fail("'%s' is larger than '%s' in dim %zu", y.name, like.name, d), false;
    if (!PadDim(call, y, map, d, 0, like.dims[d] - y.dims[d], Mode::kConstant)) return false;
  }
  return true;
}

}  // namespace

// X, Y; pad_value -> Out
int32_t PadConstantLike(OpCall& call) {
  using A = args::dt_pad_constant_like;
  const DtBuffer &like = call.Arg(A::X), &y = call.Arg(A::Y);
  DtBuffer& out = call.Arg(A::Out);
  AxisMap map(OpCall::Dims(y));
  char fill[16];
  if (!SameType(call, y, out) || !CornerMap(call, y, like, map) || !call.Resize(out, like) ||
      !NumberTo(call, y, call.Real(A::pad_value), fill))
    return 1;
  OpCall::SetLod(out, OpCall::LodOf(like));
  return GatherMapped(call, map, y.data, out.data, ElementSize(y), fill);
}

// Y, Out@GRAD -> Y@GRAD
int32_t PadConstantLikeGrad(OpCall& call) {
  using A = args::dt_pad_constant_like_grad;
  const DtBuffer &y = call.Arg(A::Y), &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dy = call.Arg(A::Y_GRAD);
  AxisMap map(OpCall::Dims(gradient));
  const std::vector<int64_t> origin(map.x.size(), 0);
  if (!SameType(call, gradient, dy) || !Window(call, gradient, origin, OpCall::Dims(y), map) ||
      !call.Resize(dy, y))
    return 1;
  return GatherMapped(call, map, gradient.data, dy.data, ElementSize(dy), nullptr);
}

}  // namespace dtranspile::kernels
