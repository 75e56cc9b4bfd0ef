// Windows over images as columns: unfold, fold, im2sequence and their gradients (phi unfold,
// fold; 1.x im2sequence). Reading windows and adding to them are inverse directions of one walk.
#include <cstring>

#include "runtime/kernels/cpu/ops/shape/calls.h"

namespace dtranspile::kernels {
namespace {

struct Windows {
  int64_t n, c, h, w;  // images
  int64_t kernel[2], stride[2], dilation[2];
  int64_t before[2];  // padding at the top and on the left
  int64_t out[2];     // windows down and across
  bool rows;          // a window is a row [n, out, c·k] and not a column [n, c·k, out]

  int64_t Taps() const { return c * kernel[0] * kernel[1]; }
  int64_t Places() const { return out[0] * out[1]; }
};

bool PairOf(OpCall& call, int attr, const char* what, int64_t least, int64_t* pair) {
  const auto values = call.Ints(attr);
  if (values.empty() || values.size() > 2)
    return call.Fail("%zu numbers as %s, expected 2", values.size(), what), false;
  for (size_t k = 0; k < 2; ++k) {
    pair[k] = values[values.size() == 1 ? 0 : k];
    if (pair[k] < least || pair[k] > INT32_MAX)
      return call.Fail("%s of %lld", what, static_cast<long long>(pair[k])), false;
  }
  return true;
}

// Paddings of 1 (everywhere), 2 (height, width) or 4 numbers (top, left, bottom, right).
bool PaddingsOf(OpCall& call, int attr, Windows& w, int64_t* after) {
  const auto p = call.Ints(attr);
  if (p.size() != 1 && p.size() != 2 && p.size() != 4)
    return call.Fail("%zu paddings, expected 4", p.size()), false;
  for (size_t k = 0; k < 2; ++k) {
    w.before[k] = p[p.size() == 1 ? 0 : k];
    after[k] = p[p.size() == 4 ? 2 + k : p.size() == 1 ? 0 : k];
    if (w.before[k] < 0 || after[k] < 0 || w.before[k] > INT32_MAX || after[k] > INT32_MAX)
      return call.Fail("a padding is out of range"), false;
  }
  return true;
}

// kernels, strides, paddings, dilations from attribute `first` on (dilations only where there are
// some).
bool WindowsOf(OpCall& call, int first, bool dilated, int64_t height, int64_t width, Windows& w) {
  int64_t after[2];
  w.h = height, w.w = width;
  w.dilation[0] = w.dilation[1] = 1;
  if (!PairOf(call, first, "window", 1, w.kernel) ||
      !PairOf(call, first + 1, "stride", 1, w.stride) || !PaddingsOf(call, first + 2, w, after))
    return false;
  if (dilated && !PairOf(call, first + 3, "dilation", 1, w.dilation)) return false;
  const int64_t extent[2] = {height, width};
  for (int k = 0; k < 2; ++k) {
    const int64_t room =
        extent[k] + w.before[k] + after[k] - (w.dilation[k] * (w.kernel[k] - 1) + 1);
    if (room < 0)
      return call.Fail("a window of %lld does not fit into %lld",
                       static_cast<long long>(w.kernel[k]), static_cast<long long>(extent[k])),
             false;
    w.out[k] = room / w.stride[k] + 1;
  }
  return true;
}

// Whether the numbers of windows and of their elements can be counted.
bool Countable(OpCall& call, const Windows& w) {
  int64_t count = 1;
  bool fits = true;
  for (int64_t factor : {w.n, w.c, w.kernel[0], w.kernel[1], w.out[0], w.out[1]})
    fits &= !__builtin_mul_overflow(count, factor, &count);
  return fits ||
         (call.Fail("windows of %lld by %lld have too many elements",
                    static_cast<long long>(w.kernel[0]), static_cast<long long>(w.kernel[1])),
          false);
}

bool ImagesOf(OpCall& call, const DtBuffer& x, Windows& w) {
  if (x.rank != 4) return call.Fail("'%s' has %d dims, expected 4", x.name, x.rank), false;
  w.n = x.dims[0], w.c = x.dims[1];
  return true;
}

// visit(element of the columns of image `n`, element of channel c or -1) for all taps of channel c.
template <typename Visit>
void WalkChannel(const Windows& w, int64_t c, Visit&& visit) {
  for (int64_t i = 0; i < w.kernel[0]; ++i)
    for (int64_t j = 0; j < w.kernel[1]; ++j) {
      const int64_t tap = (c * w.kernel[0] + i) * w.kernel[1] + j;
      for (int64_t p = 0; p < w.out[0]; ++p)
        for (int64_t q = 0; q < w.out[1]; ++q) {
          const int64_t y = p * w.stride[0] - w.before[0] + i * w.dilation[0],
                        x = q * w.stride[1] - w.before[1] + j * w.dilation[1];
          const bool inside = y >= 0 && y < w.h && x >= 0 && x < w.w;
          const int64_t place = p * w.out[1] + q;
          visit(w.rows ? place * w.Taps() + tap : tap * w.Places() + place,
                inside ? y * w.w + x : -1);
        }
    }
}

// Columns of all images and channels; a channel is the work of one thread.
template <bool kToColumns>
int32_t Walk(OpCall& call, const Windows& w, const DtBuffer& from, DtBuffer& to) {
  const int64_t plane = w.h * w.w, columns = w.Taps() * w.Places();
  if (!SameType(call, from, to)) return 1;
  if (!kToColumns) std::memset(to.data, 0, static_cast<size_t>(Elements(to) * ElementSize(to)));
  return VisitNumber(call.context(), from, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Parallel(call.context(), w.n * w.c,
             GrainFor(columns / std::max<int64_t>(w.c, 1) * ElementSize(from)),
             [&](int64_t lo, int64_t n) {
               for (int64_t item = lo; item < lo + n; ++item) {
                 const int64_t image = item / w.c, c = item % w.c, at_plane = item * plane,
                               at_column = image * columns;
                 WalkChannel(w, c, [&](int64_t column, int64_t pixel) {
                   if constexpr (kToColumns)
                     Data<T>(to)[at_column + column] =
                         pixel < 0 ? T{0} : Data<T>(from)[at_plane + pixel];
                   else if (pixel >= 0)
                     Data<T>(to)[at_plane + pixel] =
                         Plus(Data<T>(to)[at_plane + pixel], Data<T>(from)[at_column + column]);
                 });
               }
             });
    return 0;
  });
}

// fold: the columns are X, [n, c·k, windows] (or without n); the images have the extents
// `output_sizes`.
bool FoldOf(OpCall& call, const DtBuffer& columns, Windows& w, std::vector<int64_t>& dims) {
  using A = args::dt_fold;
  static_assert(A::output_sizes == args::dt_fold_grad::output_sizes);
  int64_t extent[2];
  if (columns.rank != 2 && columns.rank != 3)
    return call.Fail("'%s' has %d dims, expected 3", columns.name, columns.rank), false;
  if (!PairOf(call, A::output_sizes, "output size", 1, extent) ||
      !WindowsOf(call, 1, true, extent[0], extent[1], w))
    return false;
  const int64_t taps = columns.dims[columns.rank - 2], places = columns.dims[columns.rank - 1];
  w.n = columns.rank == 3 ? columns.dims[0] : 1;
  w.rows = false;
  w.c = 1;
  if (!Countable(call, w)) return false;
  const int64_t kernel = w.kernel[0] * w.kernel[1];
  if (kernel <= 0 || taps % kernel != 0 || places != w.Places())
    return call.Fail(
               "'%s' has %lld rows of %lld windows, expected a multiple of %lld rows and %lld "
               "windows",
               columns.name, static_cast<long long>(taps), static_cast<long long>(places),
               static_cast<long long>(kernel), static_cast<long long>(w.Places())),
           false;
  w.c = taps / kernel;
  dims = {w.n, w.c, extent[0], extent[1]};
  if (columns.rank == 2) dims.erase(dims.begin());
  return true;
}

bool UnfoldOf(OpCall& call, const DtBuffer& x, Windows& w) {
  w.rows = false;
  return ImagesOf(call, x, w) && WindowsOf(call, 0, true, x.dims[2], x.dims[3], w) &&
         Countable(call, w);
}

bool SequenceOf(OpCall& call, const DtBuffer& x, Windows& w) {
  w.rows = true;
  return ImagesOf(call, x, w) && WindowsOf(call, 0, false, x.dims[2], x.dims[3], w) &&
         Countable(call, w);
}

// Gradient of windows: to the images.
int32_t AddWindows(OpCall& call, const Windows& w, const DtBuffer& x, const DtBuffer& gradient,
                   DtBuffer& dx) {
  if (Elements(gradient) != w.n * w.Taps() * w.Places())
    return call.Fail("'%s' has not the extents of the windows", gradient.name);
  return call.Resize(dx, x) ? Walk<false>(call, w, gradient, dx) : 1;
}

}  // namespace

// X; kernel_sizes, strides, paddings, dilations -> Y
int32_t Unfold(OpCall& call) {
  using A = args::dt_unfold;
  const DtBuffer& x = call.Arg(A::X);
  Windows w;
  if (!UnfoldOf(call, x, w)) return 1;
  const int64_t dims[] = {w.n, w.Taps(), w.Places()};
  return call.Resize(call.Arg(A::Y), dims) ? Walk<true>(call, w, x, call.Arg(A::Y)) : 1;
}

// X, Y@GRAD; as unfold -> X@GRAD
int32_t UnfoldGrad(OpCall& call) {
  using A = args::dt_unfold_grad;
  Windows w;
  return UnfoldOf(call, call.Arg(A::X), w)
             ? AddWindows(call, w, call.Arg(A::X), call.Arg(A::Y_GRAD), call.Arg(A::X_GRAD))
             : 1;
}

// X; output_sizes, kernel_sizes, strides, paddings, dilations -> Y
int32_t Fold(OpCall& call) {
  using A = args::dt_fold;
  Windows w;
  std::vector<int64_t> dims;
  if (!FoldOf(call, call.Arg(A::X), w, dims) || !call.Resize(call.Arg(A::Y), dims)) return 1;
  return Walk<false>(call, w, call.Arg(A::X), call.Arg(A::Y));
}

// X, Y@GRAD; as fold -> X@GRAD
int32_t FoldGrad(OpCall& call) {
  using A = args::dt_fold_grad;
  const DtBuffer &x = call.Arg(A::X), &gradient = call.Arg(A::Y_GRAD);
  Windows w;
  std::vector<int64_t> dims;
  if (!FoldOf(call, x, w, dims) || !call.Resize(call.Arg(A::X_GRAD), x)) return 1;
  if (OpCall::Dims(gradient) != absl::MakeConstSpan(dims))
    return call.Fail("'%s' has not the extents of the images", gradient.name);
  return Walk<true>(call, w, gradient, call.Arg(A::X_GRAD));
}

// X; kernels, strides, paddings -> Out: one sequence per image, one row per window
int32_t Im2Sequence(OpCall& call) {
  using A = args::dt_im2sequence;
  const DtBuffer& x = call.Arg(A::X);
  Windows w;
  if (!SequenceOf(call, x, w)) return 1;
  const int64_t dims[] = {w.n * w.Places(), w.Taps()};
  if (!call.Resize(call.Arg(A::Out), dims)) return 1;
  Lod lod(1);
  for (int64_t i = 0; i <= w.n; ++i) lod[0].push_back(i * w.Places());
  OpCall::SetLod(call.Arg(A::Out), lod);
  return Walk<true>(call, w, x, call.Arg(A::Out));
}

// X, Out@GRAD; as im2sequence -> X@GRAD
int32_t Im2SequenceGrad(OpCall& call) {
  using A = args::dt_im2sequence_grad;
  Windows w;
  return SequenceOf(call, call.Arg(A::X), w)
             ? AddWindows(call, w, call.Arg(A::X), call.Arg(A::Out_GRAD), call.Arg(A::X_GRAD))
             : 1;
}

}  // namespace dtranspile::kernels
