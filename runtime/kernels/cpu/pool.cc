#include "runtime/kernels/cpu/pool.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "runtime/kernels/args/convolution.h"
#include "runtime/kernels/cpu/support.h"

namespace dtranspile::kernels {
namespace {

// Extents of one axis; `pad` is what stands before the input, what stands after it follows from
// `out`.
struct PoolAxis {
  int64_t in = 1, out = 1, kernel = 1, stride = 1, pad = 0;
};

// An image is what pools by itself: a plane of NCHW (inner = 1), a whole sample of NHWC (inner =
// C). Elements are [images, D, H, W, inner]; in two dimensions D is 1.
struct Pool {
  int64_t images, inner;
  std::array<PoolAxis, 3> axis;
  int64_t divisor;
  bool adaptive, max;

  int64_t Inputs() const { return axis[0].in * axis[1].in * axis[2].in; }
  int64_t Outputs() const { return axis[0].out * axis[1].out * axis[2].out; }
};

// Bounds below which no sum of extents and paddings overflows 64 bits.
bool InRange(const PoolAxis& a) {
  constexpr int64_t kMost = int64_t{1} << 31;
  for (int64_t value : {a.kernel, a.stride})
    if (value < 1 || value >= kMost) return false;
  return a.pad >= 0 && a.pad < kMost;
}

// All three calls have them in the same places.
using A = args::dt_pool;
using OfGradient = args::dt_pool_bwd;
using OfIndex = args::dt_pool_index;
static_assert(A::ksize == OfGradient::ksize && A::ksize == OfIndex::ksize);
static_assert(A::strides == OfGradient::strides && A::strides == OfIndex::strides);
static_assert(A::paddings == OfGradient::paddings && A::paddings == OfIndex::paddings);
static_assert(A::divisor == OfGradient::divisor && A::divisor == OfIndex::divisor);
static_assert(A::adaptive == OfGradient::adaptive && A::adaptive == OfIndex::adaptive);
static_assert(A::channels_last == OfGradient::channels_last &&
              A::channels_last == OfIndex::channels_last);
static_assert(A::pooling_type == OfGradient::pooling_type &&
              A::pooling_type == OfIndex::pooling_type);
static_assert(A::extents == OfIndex::extents);

// Gives a result extents where only the run knows them: those of X, along the axes those of the
// attribute.
bool SizeResult(OpCall& call, const DtBuffer& x, DtBuffer& out) {
  if (out.value == nullptr) return true;
  const auto extents = call.Ints(A::extents);
  if (extents.empty() || static_cast<int>(extents.size()) != x.rank - 2)
    return call.Fail("the extents of '%s' are not known", out.name), false;
  std::vector<int64_t> dims(x.dims, x.dims + x.rank);
  std::copy(extents.begin(), extents.end(), dims.begin() + (call.Bool(A::channels_last) ? 1 : 2));
  return call.Resize(out, dims);
}

// Attributes and extents of X and Y in one struct; axes of two-dimensional pooling stand last, so
// that D is 1 there. `adaptive` takes the windows from the extents alone.
bool Read(OpCall& call, const DtBuffer& x, const DtBuffer& y, Pool& p) {
  if ((x.rank != 4 && x.rank != 5) || y.rank != x.rank || x.dtype != y.dtype)
    return call.Fail("X and Y must have four or five dimensions and one element type"), false;
  const int axes = x.rank - 2;
  const auto kernels = call.Ints(A::ksize), strides = call.Ints(A::strides),
             paddings = call.Ints(A::paddings);
  for (const auto& list : {kernels, strides, paddings})
    if (static_cast<int>(list.size()) != axes)
      return call.Fail("%zu kernel extents, strides or paddings for %d axes", list.size(), axes),
             false;
  const bool last = call.Bool(A::channels_last);
  const int32_t first = last ? 1 : 2, c = last ? axes + 1 : 1;
  if (x.dims[0] != y.dims[0] || x.dims[c] != y.dims[c])
    return call.Fail("batch or channels of X and Y differ"), false;
  const std::string_view kind = call.Text(A::pooling_type);
  p = {last ? x.dims[0] : x.dims[0] * x.dims[1],
       last ? x.dims[c] : 1,
       {},
       call.Int(A::divisor),
       call.Bool(A::adaptive),
       kind == "max"};
  if (!p.max && kind != "avg")
    return call.Fail("unknown kind '%s', expected max or avg", std::string(kind).c_str()), false;
  for (int i = 0; i < axes; ++i) {
    PoolAxis& a = p.axis[3 - axes + i];
    a = {x.dims[first + i], y.dims[first + i], kernels[i], strides[i], paddings[i]};
    if (!p.adaptive && !InRange(a))
      return call.Fail("kernel, stride or padding out of range"), false;
  }
  return true;
}

// One axis of a window, clipped to the input; `padded` is its extent within input and padding.
struct Span {
  int64_t begin, end, padded;
};

// Adaptive: window i of n over m elements is [floor(i m / n), ceil((i + 1) m / n)), as in the
// framework's AdaptStartIndex and AdaptEndIndex; windows overlap where n does not divide m.
// Otherwise [i stride - pad, … + kernel) cut to the input; a window entirely in the padding is
// empty.
Span WindowOf(const Pool& p, int axis, int64_t index) {
  const PoolAxis& a = p.axis[axis];
  if (p.adaptive) return {index * a.in / a.out, ((index + 1) * a.in + a.out - 1) / a.out, 0};
  const int64_t begin = index * a.stride - a.pad, first = std::max<int64_t>(begin, 0);
  return {first, std::max(first, std::min(begin + a.kernel, a.in)),
          std::min(begin + a.kernel, a.in + a.pad) - begin};
}

// A cell's window along all axes.
struct Window {
  Span d, h, w;
};

// visit(number of the cell within its image, its window) for a row of cells.
template <typename Visit>
void ForRow(const Pool& p, int64_t row, Visit&& visit) {
  const int64_t height = p.axis[1].out, width = p.axis[2].out;
  Window v{WindowOf(p, 0, row / height), WindowOf(p, 1, row % height), {}};
  for (int64_t q = 0; q < width; ++q) {
    v.w = WindowOf(p, 2, q);
    visit(row * width + q, v);
  }
}

// Calls visit(position in the plane) for the elements of a window, in row order; a visit that
// returns true is the last.
template <typename Visit>
void ForWindow(const Pool& p, const Window& v, Visit&& visit) {
  for (int64_t d = v.d.begin; d < v.d.end; ++d)
    for (int64_t h = v.h.begin; h < v.h.end; ++h)
      for (int64_t w = v.w.begin; w < v.w.end; ++w)
        if (visit((d * p.axis[1].in + h) * p.axis[2].in + w)) return;
}

// What the sum over a window is divided by.
int64_t Divisor(const Pool& p, const Window& v) {
  const auto clipped = [](const Span& s) { return s.end - s.begin; };
  if (p.adaptive || p.divisor == 1)
    return std::max<int64_t>(clipped(v.d) * clipped(v.h) * clipped(v.w), 1);
  if (p.divisor == 0) return p.axis[0].kernel * p.axis[1].kernel * p.axis[2].kernel;
  return std::max<int64_t>(v.d.padded * v.h.padded * v.w.padded, 1);
}

// One cell of the result, for all `inner` channels at once: they lie side by side in NHWC, so that
// this loop is a vector one; in NCHW there is one.
template <typename T, bool kMax>
void ForwardCell(const Pool& p, const T* image, T* out, const Window& v) {
  std::fill_n(out, p.inner, kMax ? std::numeric_limits<T>::lowest() : T{0});
  ForWindow(p, v, [&](int64_t at) {
    const T* __restrict x = image + at * p.inner;
    for (int64_t c = 0; c < p.inner; ++c) {
      if constexpr (kMax) out[c] = out[c] > x[c] ? out[c] : x[c];
      else out[c] += x[c];
    }
    return false;
  });
  if constexpr (!kMax) {
    const T divisor = static_cast<T>(Divisor(p, v));
    for (int64_t c = 0; c < p.inner; ++c) out[c] /= divisor;
  }
}

// The largest element and its position within the image's plane, the first of equal ones; NaN never
// wins, and -1 stands for a window without elements.
template <typename T>
void IndexCell(const Pool& p, const T* image, T* out, int32_t* mask, const Window& v) {
  std::fill_n(out, p.inner, std::numeric_limits<T>::lowest());
  std::fill_n(mask, p.inner, -1);
  ForWindow(p, v, [&](int64_t at) {
    const T* x = image + at * p.inner;
    for (int64_t c = 0; c < p.inner; ++c) {
      if (!(x[c] > out[c])) continue;
      out[c] = x[c];
      mask[c] = static_cast<int32_t>(at);
    }
    return false;
  });
}

// cell(image's number, cell's number, its window)
template <typename Cell>
void ForCells(DtContext* context, const Pool& p, int64_t element_size, Cell&& cell) {
  const int64_t rows = p.axis[0].out * p.axis[1].out, cells = p.Outputs(),
                read = p.Inputs() / std::max<int64_t>(rows, 1);
  Parallel(context, p.images * rows, GrainFor((read + p.axis[2].out) * p.inner * element_size),
           [&](int64_t lo, int64_t n) {
             for (int64_t i = lo; i < lo + n; ++i) {
               const int64_t image = i / rows;
               ForRow(p, i % rows,
                      [&](int64_t at, const Window& v) { cell(image, image * cells + at, v); });
             }
           });
}

// The choice between mean and maximum is made once, outside of the loops.
template <typename T, bool kMax>
void Forward(DtContext* context, const Pool& p, const T* x, T* y) {
  const int64_t plane = p.Inputs() * p.inner;
  ForCells(context, p, sizeof(T), [&](int64_t image, int64_t i, const Window& v) {
    ForwardCell<T, kMax>(p, x + image * plane, y + i * p.inner, v);
  });
}

// The first element of the window that equals y takes the gradient.
template <typename T>
void BackwardMaxCell(const Pool& p, const T* image, const T* y, const T* dy, T* dx,
                     const Window& v) {
  for (int64_t c = 0; c < p.inner; ++c)
    ForWindow(p, v, [&](int64_t at) {
      const bool found = image[at * p.inner + c] == y[c];
      if (found) dx[at * p.inner + c] += dy[c];
      return found;
    });
}

// Every element of a window has the same share in the mean.
template <typename T>
void BackwardAvgCell(const Pool& p, const T* dy, T* dx, const Window& v) {
  const T divisor = static_cast<T>(Divisor(p, v));
  ForWindow(p, v, [&](int64_t at) {
    T* __restrict to = dx + at * p.inner;
    for (int64_t c = 0; c < p.inner; ++c) to[c] += dy[c] / divisor;
    return false;
  });
}

// Windows overlap, so threads share images, within which cells are walked in order: the sums are
// the same with any number of threads.
template <typename T>
void Backward(DtContext* context, const Pool& p, const T* x, const T* y, const T* dy, T* dx) {
  const int64_t in = p.Inputs() * p.inner, out = p.Outputs() * p.inner;
  Parallel(context, p.images, GrainFor((in + out) * static_cast<int64_t>(sizeof(T))),
           [&](int64_t lo, int64_t n) {
             std::fill_n(dx + lo * in, n * in, T{0});
             for (int64_t i = lo; i < lo + n; ++i)
               for (int64_t row = 0; row < p.axis[0].out * p.axis[1].out; ++row)
                 ForRow(p, row, [&](int64_t cell, const Window& v) {
                   const int64_t at = i * out + cell * p.inner;
                   if (p.max) BackwardMaxCell(p, x + i * in, y + at, dy + at, dx + i * in, v);
                   else BackwardAvgCell(p, dy + at, dx + i * in, v);
                 });
           });
}

}  // namespace

int32_t PoolForward(OpCall& call) {
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& y = call.Arg(A::Out);
  Pool p;
  if (!SizeResult(call, x, y) || !Read(call, x, y, p)) return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (p.max) Forward<T, true>(call.context(), p, Data<const T>(x), Data<T>(y));
    else Forward<T, false>(call.context(), p, Data<const T>(x), Data<T>(y));
    return 0;
  });
}

int32_t PoolIndex(OpCall& call) {
  using I = args::dt_pool_index;
  const DtBuffer& x = call.Arg(I::X);
  DtBuffer &y = call.Arg(I::Out), &mask = call.Arg(I::Mask);
  Pool p;
  if (!SizeResult(call, x, y) || !SizeResult(call, x, mask) || !Read(call, x, y, p)) return 1;
  if (!p.max || TypeOf(mask) != DType::kInt32 || !SameShape(mask, y))
    return call.Fail("'%s' must hold int32 positions of largest elements, one for each of '%s'",
                     mask.name, y.name);
  if (p.Inputs() > std::numeric_limits<int32_t>::max())
    return call.Fail("a plane of '%s' has too many elements for int32 positions", x.name);
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const int64_t plane = p.Inputs() * p.inner;
    ForCells(call.context(), p, sizeof(T), [&](int64_t image, int64_t i, const Window& v) {
      IndexCell(p, Data<const T>(x) + image * plane, Data<T>(y) + i * p.inner,
                Data<int32_t>(mask) + i * p.inner, v);
    });
    return 0;
  });
}

int32_t PoolBwd(OpCall& call) {
  using G = args::dt_pool_bwd;
  const DtBuffer &x = call.Arg(G::X), &y = call.Arg(G::Out), &dy = call.Arg(G::Out_GRAD);
  DtBuffer& dx = call.Arg(G::X_GRAD);
  Pool p;
  if (!call.Resize(dx, x) || !SameType(call, x, y) || !SameType(call, x, dx) ||
      !Read(call, dx, dy, p))
    return 1;
  if (!SameShape(y, dy)) return call.Fail("gradients must have the extents of X and Y");
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Backward(call.context(), p, Data<const T>(x), Data<const T>(y), Data<const T>(dy), Data<T>(dx));
    return 0;
  });
}

}  // namespace dtranspile::kernels
