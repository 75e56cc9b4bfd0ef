// Reading of convolution parameters, and the float64 convolutions as plain loops: they serve
// verification and small programs, not speed.
#include <algorithm>

#include "runtime/kernels/args/convolution.h"
#include "runtime/kernels/cpu/conv_geometry.h"
#include "runtime/kernels/cpu/support.h"

namespace dtranspile::kernels {
namespace {

// Output rows (or columns) [begin, end) for which tap `k` of the filter meets the input.
struct Span {
  int64_t begin, end;
};

// Output o reads input o · stride + k · dilation - before; solving 0 <= that < in for o gives the
// range, so that the loops have no test of borders inside.
Span Valid(const ConvAxis& a, int64_t k) {
  const int64_t offset = k * a.dilation - a.before;  // input index at output 0
  const int64_t begin = offset >= 0 ? 0 : (-offset + a.stride - 1) / a.stride;
  const int64_t end = a.in - 1 - offset < 0 ? 0 : (a.in - 1 - offset) / a.stride + 1;
  return {begin, std::max(begin, std::min(end, a.out))};
}

// Strides of an image tensor in elements.
struct Layout {
  int64_t n, c, d, h, w;
};

// Of NCDHW or NDHWC, for the inputs (`in`) or the outputs (`out`) of the geometry.
Layout LayoutOf(const ConvGeometry& g, int64_t channels, int64_t ConvAxis::* extents) {
  const int64_t plane = g.Product(extents), height = g.axis[1].*extents, width = g.axis[2].*extents;
  const int64_t step = g.channels_last ? channels : 1;
  return {channels * plane, g.channels_last ? 1 : plane, height * width * step, width * step, step};
}

// Sets the elements of a plane to 0.
void Clear(const ConvGeometry& g, const Layout& l, int64_t ConvAxis::* extents, double* plane) {
  for (int64_t i = 0, n = g.Product(extents); i < n; ++i) plane[i * l.w] = 0;
}

// Calls visit(x offset, y offset, count, x step, y step) for every run of pairs (input, output)
// that a tap of the filter joins within one plane.
template <typename Visit>
void ForRuns(const ConvGeometry& g, const Layout& x, const Layout& y, int64_t tap, Visit&& visit) {
  const auto& [depth, height, width] = g.axis;
  const int64_t k = tap / (height.kernel * width.kernel), i = tap / width.kernel % height.kernel,
                j = tap % width.kernel;
  const Span slices = Valid(depth, k), rows = Valid(height, i), columns = Valid(width, j);
  const int64_t w = columns.begin * width.stride - width.before + j * width.dilation;
  for (int64_t s = slices.begin; s < slices.end; ++s)
    for (int64_t p = rows.begin; p < rows.end; ++p) {
      const int64_t d = s * depth.stride - depth.before + k * depth.dilation,
                    h = p * height.stride - height.before + i * height.dilation;
      visit(d * x.d + h * x.h + w * x.w, s * y.d + p * y.h + columns.begin * y.w,
            columns.end - columns.begin, width.stride * x.w, y.w);
    }
}

// out = floor((in + before + after - (dilation (kernel - 1) + 1)) / stride) + 1.
bool Fits(const ConvAxis& a) {
  const int64_t reach = a.in + a.before + a.after - (a.dilation * (a.kernel - 1) + 1);
  return a.kernel >= 1 && reach >= 0 && reach / a.stride + 1 == a.out;
}

// Bounds below which the sums in Fits cannot overflow.
bool InRange(const ConvAxis& a) {
  constexpr int64_t kMost = int64_t{1} << 30;
  for (int64_t value : {a.stride, a.dilation})
    if (value < 1 || value > kMost) return false;
  // Before an axis there is padding only; after it a convolution may leave what its last window
  // does not reach.
  return a.before >= 0 && a.before <= kMost && a.after > -a.stride && a.after <= kMost;
}

// All three calls have them in the same places.
using A = args::dt_conv;
using OfData = args::dt_conv_bwd_data;
using OfWeights = args::dt_conv_bwd_weights;
static_assert(A::strides == OfData::strides && A::strides == OfWeights::strides);
static_assert(A::paddings == OfData::paddings && A::paddings == OfWeights::paddings);
static_assert(A::dilations == OfData::dilations && A::dilations == OfWeights::dilations);
static_assert(A::groups == OfData::groups && A::groups == OfWeights::groups);
static_assert(A::channels_last == OfData::channels_last &&
              A::channels_last == OfWeights::channels_last);

struct Attributes {
  absl::Span<const int64_t> strides, paddings, dilations;
  int64_t groups;
  bool channels_last;
};

bool ReadAttributes(OpCall& call, int axes, Attributes& a) {
  a = {call.Ints(A::strides), call.Ints(A::paddings), call.Ints(A::dilations), call.Int(A::groups),
       call.Bool(A::channels_last)};
  const auto count = static_cast<size_t>(axes);
  if (a.strides.size() == count && a.paddings.size() == 2 * count && a.dilations.size() == count)
    return true;
  return call.Fail("%zu strides, %zu paddings and %zu dilations for %d axes", a.strides.size(),
                   a.paddings.size(), a.dilations.size(), axes),
         false;
}

}  // namespace

// out = (in + before + after - (dilation · (kernel - 1) + 1)) / stride + 1, rounded down, along
// each axis.
bool ConvOutDims(OpCall& call, const DtBuffer& x, const DtBuffer& f, std::vector<int64_t>& dims) {
  const int axes = x.rank - 2;
  if ((axes != 2 && axes != 3) || f.rank != x.rank)
    return call.Fail("X and F have %d and %d dimensions, expected 4 or 5 of each", x.rank, f.rank),
           false;
  Attributes given;
  if (!ReadAttributes(call, axes, given)) return false;
  const bool last = given.channels_last;
  dims.assign(x.dims, x.dims + x.rank);
  dims[last ? axes + 1 : 1] = f.dims[0];
  for (int i = 0; i < axes; ++i) {
    int64_t& extent = dims[(last ? 1 : 2) + i];
    ConvAxis a{extent,
               f.dims[2 + i],
               1,
               given.strides[i],
               given.paddings[2 * i],
               given.paddings[2 * i + 1],
               given.dilations[i]};
    const int64_t reach =
        InRange(a) ? a.in + a.before + a.after - (a.dilation * (a.kernel - 1) + 1) : -1;
    if (reach < 0) return call.Fail("no window of F fits into X"), false;
    extent = reach / a.stride + 1;
  }
  return true;
}

// The geometry of a call, everything checked once for all three kinds: for gradients x, f, y may be
// gradients too, which have the same extents.
bool ReadConv(OpCall& call, const DtBuffer& x, const DtBuffer& f, const DtBuffer& y,
              ConvGeometry& g) {
  if ((x.rank != 4 && x.rank != 5) || f.rank != x.rank || y.rank != x.rank)
    return call.Fail("X, F and Y have %d, %d and %d dimensions, expected 4 or 5 of each", x.rank,
                     f.rank, y.rank),
           false;
  const int axes = x.rank - 2;
  Attributes given;
  if (!ReadAttributes(call, axes, given)) return false;
  constexpr int64_t kMostExtent = int64_t{1} << 31;
  for (const DtBuffer* buffer : {&x, &f, &y})
    for (int32_t i = 0; i < buffer->rank; ++i)
      if (buffer->dims[i] >= kMostExtent) return call.Fail("an extent is too large"), false;
  const bool last = given.channels_last;
  const int32_t c = last ? axes + 1 : 1, first = last ? 1 : 2;
  g = {x.dims[0], x.dims[c], f.dims[0], given.groups, last, axes, {}};
  bool in_range = g.groups >= 1, fits = y.dims[0] == g.batch && y.dims[c] == g.filters;
  for (int i = 0; i < axes; ++i) {
    ConvAxis& a = g.axis[3 - axes + i];
    a = {x.dims[first + i], f.dims[2 + i],         y.dims[first + i],
         given.strides[i],  given.paddings[2 * i], given.paddings[2 * i + 1],
         given.dilations[i]};
    in_range &= InRange(a);
    fits &= in_range && Fits(a);
  }
  if (!in_range)
    return call.Fail("a stride, padding, dilation or the number of groups is out of range"), false;
  if (g.channels % g.groups != 0 || g.filters % g.groups != 0 || f.dims[1] != g.channels / g.groups)
    return call.Fail("filter [%lld, %lld, ..] does not fit %lld channels in %lld groups",
                     static_cast<long long>(g.filters), static_cast<long long>(f.dims[1]),
                     static_cast<long long>(g.channels), static_cast<long long>(g.groups)),
           false;
  if (!fits) return call.Fail("extents of X, F and Y do not fit each other"), false;
  return true;
}

// y[n, o] = sum over the channels c of o's group and the taps of f[o, c, tap] · x[n, c] shifted by
// the tap. Threads take planes of y; the order of the sum is that of (c, tap) always.
void DirectForward(DtContext* context, const ConvGeometry& g, const double* x, const double* f,
                   double* y) {
  const Layout lx = LayoutOf(g, g.channels, &ConvAxis::in),
               ly = LayoutOf(g, g.filters, &ConvAxis::out);
  const int64_t depth = g.channels / g.groups, per_group = g.filters / g.groups, taps = g.Taps();
  Parallel(context, g.batch * g.filters, 1, [&](int64_t lo, int64_t n) {
    for (int64_t plane = lo; plane < lo + n; ++plane) {
      const int64_t o = plane % g.filters;
      double* to = y + plane / g.filters * ly.n + o * ly.c;
      Clear(g, ly, &ConvAxis::out, to);
      for (int64_t c = 0; c < depth; ++c) {
        const double* from = x + plane / g.filters * lx.n + (o / per_group * depth + c) * lx.c;
        for (int64_t tap = 0; tap < taps; ++tap) {
          const double weight = f[(o * depth + c) * taps + tap];
          ForRuns(g, lx, ly, tap,
                  [&](int64_t at_x, int64_t at_y, int64_t count, int64_t dx, int64_t dy) {
                    for (int64_t k = 0; k < count; ++k)
                      to[at_y + k * dy] += weight * from[at_x + k * dx];
                  });
        }
      }
    }
  });
}

// The same runs with input and output exchanged: threads take planes of dx, and sum over (o, tap).
void DirectBackwardData(DtContext* context, const ConvGeometry& g, const double* f,
                        const double* dy, double* dx) {
  const Layout lx = LayoutOf(g, g.channels, &ConvAxis::in),
               ly = LayoutOf(g, g.filters, &ConvAxis::out);
  const int64_t depth = g.channels / g.groups, per_group = g.filters / g.groups, taps = g.Taps();
  Parallel(context, g.batch * g.channels, 1, [&](int64_t lo, int64_t n) {
    for (int64_t plane = lo; plane < lo + n; ++plane) {
      const int64_t c = plane % g.channels, group = c / depth;
      double* to = dx + plane / g.channels * lx.n + c * lx.c;
      Clear(g, lx, &ConvAxis::in, to);
      for (int64_t o = group * per_group; o < (group + 1) * per_group; ++o) {
        const double* from = dy + plane / g.channels * ly.n + o * ly.c;
        for (int64_t tap = 0; tap < taps; ++tap) {
          const double weight = f[(o * depth + c % depth) * taps + tap];
          ForRuns(g, lx, ly, tap,
                  [&](int64_t at_x, int64_t at_y, int64_t count, int64_t sx, int64_t sy) {
                    for (int64_t k = 0; k < count; ++k)
                      to[at_x + k * sx] += weight * from[at_y + k * sy];
                  });
        }
      }
    }
  });
}

// df[o, c, tap] = sum over samples and runs of x · dy, one number per slice and tap, in the order
// of the batch.
void DirectBackwardWeights(DtContext* context, const ConvGeometry& g, const double* x,
                           const double* dy, double* df) {
  const Layout lx = LayoutOf(g, g.channels, &ConvAxis::in),
               ly = LayoutOf(g, g.filters, &ConvAxis::out);
  const int64_t depth = g.channels / g.groups, per_group = g.filters / g.groups, taps = g.Taps();
  Parallel(context, g.filters * depth, 1, [&](int64_t lo, int64_t n) {
    for (int64_t slice = lo; slice < lo + n; ++slice) {
      const int64_t o = slice / depth, c = o / per_group * depth + slice % depth;
      for (int64_t tap = 0; tap < taps; ++tap) {
        double sum = 0;
        for (int64_t b = 0; b < g.batch; ++b) {
          const double* from_x = x + b * lx.n + c * lx.c;
          const double* from_y = dy + b * ly.n + o * ly.c;
          ForRuns(g, lx, ly, tap,
                  [&](int64_t at_x, int64_t at_y, int64_t count, int64_t sx, int64_t sy) {
                    for (int64_t k = 0; k < count; ++k)
                      sum += from_x[at_x + k * sx] * from_y[at_y + k * sy];
                  });
        }
        df[slice * taps + tap] = sum;
      }
    }
  });
}

}  // namespace dtranspile::kernels
