// Reading of convolution parameters, and the float64 convolutions as plain loops: they serve verification and small programs, not speed.
#include <algorithm>

#include "runtime/kernels/cpu/conv_geometry.h"
#include "runtime/kernels/cpu/support.h"

namespace dtranspile::kernels {
namespace {

constexpr int32_t kInts = 10;

// Output rows (or columns) [begin, end) for which tap `k` of the filter meets the input.
struct Span {
  int64_t begin, end;
};

Span Valid(int64_t k, int64_t dilation, int64_t stride, int64_t padding, int64_t extent, int64_t out_extent) {
  const int64_t offset = k * dilation - padding;  // input index at output 0
  const int64_t begin = offset >= 0 ? 0 : (-offset + stride - 1) / stride;
  const int64_t end = extent - 1 - offset < 0 ? 0 : (extent - 1 - offset) / stride + 1;
  return {begin, std::max(begin, std::min(end, out_extent))};
}

// Strides of an image tensor in elements.
struct Layout {
  int64_t n, c, h, w;
};

Layout LayoutOf(bool nhwc, int64_t channels, int64_t height, int64_t width) {
  if (nhwc) return {channels * height * width, 1, width * channels, channels};
  return {channels * height * width, height * width, width, 1};
}

// Calls visit(x offset, y offset, count, x step, y step) for every run of pairs (input, output) that tap (i, j) joins within one plane.
template <typename Visit>
void ForRuns(const ConvGeometry& g, const Layout& x, const Layout& y, int64_t i, int64_t j, Visit&& visit) {
  const Span rows = Valid(i, g.dilation_h, g.stride_h, g.top, g.height, g.out_height);
  const Span columns = Valid(j, g.dilation_w, g.stride_w, g.left, g.width, g.out_width);
  for (int64_t p = rows.begin; p < rows.end; ++p) {
    const int64_t h = p * g.stride_h - g.top + i * g.dilation_h;
    const int64_t w = columns.begin * g.stride_w - g.left + j * g.dilation_w;
    visit(h * x.h + w * x.w, p * y.h + columns.begin * y.w, columns.end - columns.begin, g.stride_w * x.w, y.w);
  }
}

bool OutExtentFits(int64_t in, int64_t before, int64_t after, int64_t kernel, int64_t dilation, int64_t stride, int64_t out) {
  const int64_t reach = in + before + after - (dilation * (kernel - 1) + 1);
  return reach >= 0 && reach / stride + 1 == out;
}

bool InRange(const DtCall* call) {
  constexpr int64_t kMost = int64_t{1} << 30;
  constexpr int32_t kFirstPadding = 2, kFirstDilation = 6;
  for (int32_t i = 0; i < kInts - 1; ++i) {
    const bool padding = i >= kFirstPadding && i < kFirstDilation;
    if (call->ints[i] < (padding ? 0 : 1) || call->ints[i] > kMost) return false;
  }
  return true;
}

}  // namespace

bool ReadConv(DtContext* context, const DtCall* call, const DtBuffer& x, const DtBuffer& f, const DtBuffer& y, ConvGeometry& g) {
  if (x.rank != 4 || f.rank != 4 || y.rank != 4) return dt_fail(context, "X, F and Y have %d, %d and %d dimensions, expected 4", x.rank, f.rank, y.rank), false;
  if (!InRange(call)) return dt_fail(context, "a stride, padding, dilation or the number of groups is out of range"), false;
  const int64_t* v = call->ints;
  const bool nhwc = v[9] != 0;
  const int32_t c = nhwc ? 3 : 1, h = nhwc ? 1 : 2, w = h + 1;
  g = {x.dims[0], x.dims[c], x.dims[h], x.dims[w], f.dims[0], f.dims[2], f.dims[3], y.dims[h], y.dims[w], v[0],
       v[1],      v[2],      v[3],      v[4],      v[5],      v[6],      v[7],      v[8],      nhwc};
  constexpr int64_t kMostExtent = int64_t{1} << 31;
  for (const DtBuffer* buffer : {&x, &f, &y})
    for (int32_t i = 0; i < 4; ++i)
      if (buffer->dims[i] >= kMostExtent) return dt_fail(context, "an extent is too large"), false;
  if (g.channels % g.groups != 0 || g.filters % g.groups != 0 || f.dims[1] != g.channels / g.groups)
    return dt_fail(context, "filter [%lld, %lld, ..] does not fit %lld channels in %lld groups", static_cast<long long>(g.filters),
                   static_cast<long long>(f.dims[1]), static_cast<long long>(g.channels), static_cast<long long>(g.groups)),
           false;
  if (y.dims[0] != g.batch || y.dims[c] != g.filters || g.kernel_h < 1 || g.kernel_w < 1 ||
      !OutExtentFits(g.height, g.top, g.bottom, g.kernel_h, g.dilation_h, g.stride_h, g.out_height) ||
      !OutExtentFits(g.width, g.left, g.right, g.kernel_w, g.dilation_w, g.stride_w, g.out_width))
    return dt_fail(context, "extents of X, F and Y do not fit each other"), false;
  return true;
}

void DirectForward(DtContext* context, const ConvGeometry& g, const double* x, const double* f, double* y) {
  const Layout lx = LayoutOf(g.nhwc, g.channels, g.height, g.width), ly = LayoutOf(g.nhwc, g.filters, g.out_height, g.out_width);
  const int64_t depth = g.channels / g.groups, per_group = g.filters / g.groups, taps = g.kernel_h * g.kernel_w;
  Parallel(context, g.batch * g.filters, 1, [&](int64_t lo, int64_t n) {
    for (int64_t plane = lo; plane < lo + n; ++plane) {
      const int64_t o = plane % g.filters;
      double* to = y + plane / g.filters * ly.n + o * ly.c;
      for (int64_t p = 0; p < g.out_height; ++p)
        for (int64_t q = 0; q < g.out_width; ++q) to[p * ly.h + q * ly.w] = 0;
      for (int64_t c = 0; c < depth; ++c) {
        const double* from = x + plane / g.filters * lx.n + (o / per_group * depth + c) * lx.c;
        for (int64_t tap = 0; tap < taps; ++tap) {
          const double weight = f[(o * depth + c) * taps + tap];
          ForRuns(g, lx, ly, tap / g.kernel_w, tap % g.kernel_w, [&](int64_t at_x, int64_t at_y, int64_t count, int64_t dx, int64_t dy) {
            for (int64_t k = 0; k < count; ++k) to[at_y + k * dy] += weight * from[at_x + k * dx];
          });
        }
      }
    }
  });
}

void DirectBackwardData(DtContext* context, const ConvGeometry& g, const double* f, const double* dy, double* dx) {
  const Layout lx = LayoutOf(g.nhwc, g.channels, g.height, g.width), ly = LayoutOf(g.nhwc, g.filters, g.out_height, g.out_width);
  const int64_t depth = g.channels / g.groups, per_group = g.filters / g.groups, taps = g.kernel_h * g.kernel_w;
  Parallel(context, g.batch * g.channels, 1, [&](int64_t lo, int64_t n) {
    for (int64_t plane = lo; plane < lo + n; ++plane) {
      const int64_t c = plane % g.channels, group = c / depth;
      double* to = dx + plane / g.channels * lx.n + c * lx.c;
      for (int64_t h = 0; h < g.height; ++h)
        for (int64_t w = 0; w < g.width; ++w) to[h * lx.h + w * lx.w] = 0;
      for (int64_t o = group * per_group; o < (group + 1) * per_group; ++o) {
        const double* from = dy + plane / g.channels * ly.n + o * ly.c;
        for (int64_t tap = 0; tap < taps; ++tap) {
          const double weight = f[(o * depth + c % depth) * taps + tap];
          ForRuns(g, lx, ly, tap / g.kernel_w, tap % g.kernel_w, [&](int64_t at_x, int64_t at_y, int64_t count, int64_t sx, int64_t sy) {
            for (int64_t k = 0; k < count; ++k) to[at_x + k * sx] += weight * from[at_y + k * sy];
          });
        }
      }
    }
  });
}

void DirectBackwardWeights(DtContext* context, const ConvGeometry& g, const double* x, const double* dy, double* df) {
  const Layout lx = LayoutOf(g.nhwc, g.channels, g.height, g.width), ly = LayoutOf(g.nhwc, g.filters, g.out_height, g.out_width);
  const int64_t depth = g.channels / g.groups, per_group = g.filters / g.groups, taps = g.kernel_h * g.kernel_w;
  Parallel(context, g.filters * depth, 1, [&](int64_t lo, int64_t n) {
    for (int64_t slice = lo; slice < lo + n; ++slice) {
      const int64_t o = slice / depth, c = o / per_group * depth + slice % depth;
      for (int64_t tap = 0; tap < taps; ++tap) {
        double sum = 0;
        for (int64_t b = 0; b < g.batch; ++b) {
          const double* from_x = x + b * lx.n + c * lx.c;
          const double* from_y = dy + b * ly.n + o * ly.c;
          ForRuns(g, lx, ly, tap / g.kernel_w, tap % g.kernel_w, [&](int64_t at_x, int64_t at_y, int64_t count, int64_t sx, int64_t sy) {
            for (int64_t k = 0; k < count; ++k) sum += from_x[at_x + k * sx] * from_y[at_y + k * sy];
          });
        }
        df[slice * taps + tap] = sum;
      }
    }
  });
}

}  // namespace dtranspile::kernels
