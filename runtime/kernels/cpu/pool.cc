#include "runtime/kernels/cpu/pool.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "runtime/kernels/cpu/support.h"

namespace dtranspile::kernels {
namespace {

// An image is what pools by itself: a plane of NCHW (inner = 1), a whole sample of NHWC (inner = C). Elements are [images, H, W, inner].
struct Pool {
  int64_t images, height, width, inner, out_height, out_width;
  int64_t kernel_h, kernel_w, stride_h, stride_w, pad_top, pad_left;
  bool exclusive, adaptive, max;
};

constexpr int32_t kInts = 9;

bool Read(DtContext* context, const DtCall* call, const DtBuffer& x, const DtBuffer& y, Pool& p) {
  const int64_t* v = call->ints;
  if (x.rank != 4 || y.rank != 4 || x.dtype != y.dtype) return dt_fail(context, "X and Y must have four dimensions and one element type"), false;
  const bool nhwc = v[8] != 0;
  const int32_t h = nhwc ? 1 : 2, c = nhwc ? 3 : 1;
  if (x.dims[0] != y.dims[0] || x.dims[c] != y.dims[c]) return dt_fail(context, "batch or channels of X and Y differ"), false;
  p = {nhwc ? x.dims[0] : x.dims[0] * x.dims[1],
       x.dims[h],
       x.dims[h + 1],
       nhwc ? x.dims[3] : 1,
       y.dims[h],
       y.dims[h + 1],
       v[0],
       v[1],
       v[2],
       v[3],
       v[4],
       v[5],
       v[6] != 0,
       v[7] != 0,
       false};
  const char* kind = call->strings[0];
  p.max = std::strcmp(kind, "max") == 0;
  if (!p.max && std::strcmp(kind, "avg") != 0) return dt_fail(context, "unknown kind '%s', expected max or avg", kind), false;
  constexpr int64_t kMost = int64_t{1} << 31;
  const auto in_range = [](int64_t value, int64_t least) { return value >= least && value < kMost; };
  if (!p.adaptive && !(in_range(p.kernel_h, 1) && in_range(p.kernel_w, 1) && in_range(p.stride_h, 1) && in_range(p.stride_w, 1) && in_range(p.pad_top, 0) &&
                       in_range(p.pad_left, 0)))
    return dt_fail(context, "kernel, stride or padding out of range"), false;
  return true;
}

// Rows (or columns) of a window, clipped to the input.
struct Span {
  int64_t begin, end;
};

Span WindowOf(int64_t index, int64_t extent, int64_t out_extent, int64_t kernel, int64_t stride, int64_t padding, bool adaptive) {
  if (adaptive) return {index * extent / out_extent, ((index + 1) * extent + out_extent - 1) / out_extent};
  const int64_t begin = index * stride - padding;
  const int64_t first = std::max<int64_t>(begin, 0);
  return {first, std::max(first, std::min(begin + kernel, extent))};
}

Span Rows(const Pool& p, int64_t row) { return WindowOf(row, p.height, p.out_height, p.kernel_h, p.stride_h, p.pad_top, p.adaptive); }
Span Columns(const Pool& p, int64_t column) { return WindowOf(column, p.width, p.out_width, p.kernel_w, p.stride_w, p.pad_left, p.adaptive); }

// What the sum over a window is divided by.
int64_t Divisor(const Pool& p, Span rows, Span columns) {
  if (!p.exclusive && !p.adaptive) return p.kernel_h * p.kernel_w;
  return std::max<int64_t>((rows.end - rows.begin) * (columns.end - columns.begin), 1);
}

template <typename T, bool kMax>
void ForwardCell(const Pool& p, const T* image, T* out, Span rows, Span columns) {
  std::fill_n(out, p.inner, kMax ? std::numeric_limits<T>::lowest() : T{0});
  for (int64_t h = rows.begin; h < rows.end; ++h)
    for (int64_t w = columns.begin; w < columns.end; ++w) {
      const T* __restrict x = image + (h * p.width + w) * p.inner;
      for (int64_t c = 0; c < p.inner; ++c) {
        if constexpr (kMax) out[c] = out[c] > x[c] ? out[c] : x[c];
        else out[c] += x[c];
      }
    }
  if constexpr (!kMax) {
    const T divisor = static_cast<T>(Divisor(p, rows, columns));
    for (int64_t c = 0; c < p.inner; ++c) out[c] /= divisor;
  }
}

template <typename T, bool kMax>
void Forward(DtContext* context, const Pool& p, const T* x, T* y) {
  const int64_t in_row = p.width * p.inner, out_row = p.out_width * p.inner;
  const int64_t read = p.height * in_row / std::max<int64_t>(p.out_height, 1);
  Parallel(context, p.images * p.out_height, GrainFor((read + out_row) * static_cast<int64_t>(sizeof(T))), [&](int64_t lo, int64_t n) {
    for (int64_t i = lo; i < lo + n; ++i) {
      const T* image = x + i / p.out_height * p.height * in_row;
      const Span rows = Rows(p, i % p.out_height);
      for (int64_t q = 0; q < p.out_width; ++q) ForwardCell<T, kMax>(p, image, y + i * out_row + q * p.inner, rows, Columns(p, q));
    }
  });
}

// The first element of the window that equals y takes the gradient.
template <typename T>
void BackwardMaxCell(const Pool& p, const T* image, const T* y, const T* dy, T* dx, Span rows, Span columns) {
  for (int64_t c = 0; c < p.inner; ++c) {
    bool found = false;
    for (int64_t h = rows.begin; h < rows.end && !found; ++h)
      for (int64_t w = columns.begin; w < columns.end && !found; ++w) {
        const int64_t at = (h * p.width + w) * p.inner + c;
        found = image[at] == y[c];
        if (found) dx[at] += dy[c];
      }
  }
}

template <typename T>
void BackwardAvgCell(const Pool& p, const T* dy, T* dx, Span rows, Span columns) {
  const T divisor = static_cast<T>(Divisor(p, rows, columns));
  for (int64_t h = rows.begin; h < rows.end; ++h)
    for (int64_t w = columns.begin; w < columns.end; ++w) {
      T* __restrict to = dx + (h * p.width + w) * p.inner;
      for (int64_t c = 0; c < p.inner; ++c) to[c] += dy[c] / divisor;
    }
}

template <typename T>
void Backward(DtContext* context, const Pool& p, const T* x, const T* y, const T* dy, T* dx) {
  const int64_t in = p.height * p.width * p.inner, out = p.out_height * p.out_width * p.inner;
  Parallel(context, p.images, GrainFor((in + out) * static_cast<int64_t>(sizeof(T))), [&](int64_t lo, int64_t n) {
    std::fill_n(dx + lo * in, n * in, T{0});
    for (int64_t i = lo; i < lo + n; ++i)
      for (int64_t cell = 0; cell < p.out_height * p.out_width; ++cell) {
        const Span rows = Rows(p, cell / p.out_width), columns = Columns(p, cell % p.out_width);
        const int64_t at = i * out + cell * p.inner;
        if (p.max) BackwardMaxCell(p, x + i * in, y + at, dy + at, dx + i * in, rows, columns);
        else BackwardAvgCell(p, dy + at, dx + i * in, rows, columns);
      }
  });
}

}  // namespace
}  // namespace dtranspile::kernels

using namespace dtranspile::kernels;

extern "C" int32_t dt_pool2d(DtContext* context, const DtCall* call) {
  Pool p;
  if (!CheckCall(context, call, {2, kInts, 0, 1}) || !Read(context, call, call->args[0], call->args[1], p)) return 1;
  return VisitFloat(context, call->args[0], [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* x = Data<const T>(call->args[0]);
    T* y = Data<T>(call->args[1]);
    if (p.max) Forward<T, true>(context, p, x, y);
    else Forward<T, false>(context, p, x, y);
    return 0;
  });
}

extern "C" int32_t dt_pool2d_bwd(DtContext* context, const DtCall* call) {
  Pool p;
  if (!CheckCall(context, call, {4, kInts, 0, 1}) || !CheckSameType(context, call, 0, 4) || !Read(context, call, call->args[3], call->args[2], p)) return 1;
  if (!SameShape(call->args[0], call->args[3]) || !SameShape(call->args[1], call->args[2]))
    return dt_fail(context, "gradients must have the extents of X and Y");
  return VisitFloat(context, call->args[0], [&](auto tag) {
    using T = typename decltype(tag)::type;
    Backward(context, p, Data<const T>(call->args[0]), Data<const T>(call->args[1]), Data<const T>(call->args[2]), Data<T>(call->args[3]));
    return 0;
  });
}
