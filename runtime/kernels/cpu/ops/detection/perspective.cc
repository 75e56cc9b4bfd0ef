// roi_perspective_transform and its gradient: quadrilaterals of a feature map drawn upright (the
// framework's operator documentation; Heckbert 1989). The corners of a region, top left first and
// clockwise, map to those of the output; the output keeps the region's proportions, the rest of its
// width is 0. Slots X, ROIs; attributes spatial_scale, transformed_height, transformed_width.
#include <array>
#include <cmath>

#include "runtime/kernels/cpu/ops/detection/calls.h"
#include "runtime/kernels/cpu/ops/detection/pooled.h"

namespace dtranspile::kernels {
namespace {

constexpr double kClose = 1e-4;

template <typename T>
bool Same(T a, T b) {
  return std::fabs(a - b) < kClose;
}
template <typename T>
bool AtLeast(T a, T b) {
  return a > b || Same(a, b);
}

template <typename T>
struct Quad {
  std::array<T, 4> x, y;
};

// Whether a place is on the border of a quadrilateral, or inside of it: an edge to its right is
// crossed an odd number of times.
template <typename T>
bool Inside(const Quad<T>& q, T x, T y) {
  bool odd = false;
  for (size_t i = 0; i < 4; ++i) {
    const size_t next = (i + 1) % 4;
    const T low = std::min(q.y[i], q.y[next]), high = std::max(q.y[i], q.y[next]);
    if (Same(q.y[i], q.y[next])) {
      if (Same(y, q.y[i]) && Same(y, q.y[next]) && AtLeast(x, std::min(q.x[i], q.x[next])) &&
          AtLeast(std::max(q.x[i], q.x[next]), x))
        return true;
      continue;
    }
    const T crossing = (y - q.y[i]) * (q.x[next] - q.x[i]) / (q.y[next] - q.y[i]) + q.x[i];
    if (Same(crossing, x) && AtLeast(y, low) && AtLeast(high, y)) return true;
    if (AtLeast(low, y) || y - high > kClose) continue;
    odd ^= crossing - x > kClose;
  }
  return odd;
}

template <typename T>
using Matrix = std::array<T, 9>;

// The homography from places of the output to those of the map (Heckbert 1989, section 2.2.3): x =
// (m0·u + m1·v + m2) / (m6·u + m7·v + m8), y likewise with m3..m5, such that (0, 0), (w, 0), (w, h)
// and (0, h) go to the corners 0..3. With the sums and differences of the corners d1 = p1 − p2, d2
// = p3 − p2, d3 = p0 − p1 + p2 − p3, Cramer's rule on (d1 d2)·(m6·w, m7·h) = d3 gives the last row,
// from which the others follow; 1e-5 keeps the determinant of a degenerate region from 0. The used
// width w follows from the mean lengths of opposite sides, at most that of the output.
template <typename T>
Matrix<T> MatrixOf(const Quad<T>& q, int64_t height, int64_t width) {
  const auto side = [&](size_t i, size_t j) {
    return std::sqrt((q.x[i] - q.x[j]) * (q.x[i] - q.x[j]) + (q.y[i] - q.y[j]) * (q.y[i] - q.y[j]));
  };
  const T tall = (side(1, 2) + side(3, 0)) / 2, wide = (side(0, 1) + side(2, 3)) / 2;
  const int64_t rows = std::max<int64_t>(2, height);
  const double natural =
      std::round(static_cast<double>(wide * static_cast<T>(rows - 1) / tall)) + 1;
  const auto columns =
      static_cast<int64_t>(std::max(2.0, std::min(static_cast<double>(width), natural)));
  const T dx1 = q.x[1] - q.x[2], dx2 = q.x[3] - q.x[2], dx3 = q.x[0] - q.x[1] + q.x[2] - q.x[3],
          dy1 = q.y[1] - q.y[2], dy2 = q.y[3] - q.y[2], dy3 = q.y[0] - q.y[1] + q.y[2] - q.y[3];
  const T scale = dx1 * dy2 - dx2 * dy1 + static_cast<T>(1e-5), w = static_cast<T>(columns - 1),
          h = static_cast<T>(rows - 1);
  Matrix<T> m;
  m[6] = (dx3 * dy2 - dx2 * dy3) / scale / w;
  m[7] = (dx1 * dy3 - dx3 * dy1) / scale / h;
  m[8] = 1;
  m[0] = (q.x[1] - q.x[0] + m[6] * w * q.x[1]) / w;
  m[1] = (q.x[3] - q.x[0] + m[7] * h * q.x[3]) / h;
  m[2] = q.x[0];
  m[3] = (q.y[1] - q.y[0] + m[6] * w * q.y[1]) / w;
  m[4] = (q.y[3] - q.y[0] + m[7] * h * q.y[3]) / h;
  m[5] = q.y[0];
  return m;
}

// Along an axis: the elements on both sides of a place and the share of the second. False outside.
template <typename T>
bool Neighbours(T place, int64_t extent, int64_t (&at)[2], T& share) {
  const T half = static_cast<T>(0.5);
  if (!(place > -half) || AtLeast(-half, place) || AtLeast(place, static_cast<T>(extent) - half))
    return false;
  if (AtLeast(T{0}, place)) place = 0;
  at[0] = std::min(static_cast<int64_t>(std::floor(place)), extent - 1);
  at[1] = std::min(at[0] + 1, extent - 1);
  share = at[0] == extent - 1 ? T{0} : place - static_cast<T>(at[0]);
  return true;
}

// The taps of a cell of the output, for the loops that all pooled regions share (detection/
// pooled.h): the four neighbours of where the cell maps to, weighted bilinearly; none where that
// lies outside of the region or the map. Matrices are made once per region, not per cell.
template <typename T>
class Transform {
 public:
  // A region is four corners (x, y), in pixels of the image, hence the scale; its matrix maps cells
  // to the feature map.
  Transform(OpCall& call, const Pooled& p) : p_(p) {
    using A = args::dt_roi_perspective_transform;
    using B = args::dt_roi_perspective_transform_grad;
    static_assert(A::spatial_scale == B::spatial_scale && A::ROIs == B::ROIs);
    const T scale = static_cast<T>(static_cast<float>(call.Real(A::spatial_scale)));
    for (int64_t roi = 0; roi < p.rois; ++roi) {
      Quad<T> q;
      for (size_t k = 0; k < 4; ++k) {
        q.x[k] = Data<T>(call.Arg(A::ROIs))[roi * 8 + static_cast<int64_t>(2 * k)] * scale;
        q.y[k] = Data<T>(call.Arg(A::ROIs))[roi * 8 + static_cast<int64_t>(2 * k) + 1] * scale;
      }
      quads_.push_back(q);
      matrices_.push_back(MatrixOf(q, p.out_h, p.out_w));
    }
  }

  const Matrix<T>& matrix(int64_t roi) const { return matrices_[static_cast<size_t>(roi)]; }

  // The place of a cell by its homography, and the four elements around it with their bilinear
  // weights; outside of the quadrilateral nothing is read.
  void operator()(int64_t roi, int64_t cell, int64_t, std::vector<Tap<T>>& to) const {
    const Matrix<T>& m = matrix(roi);
    const T column = static_cast<T>(cell % p_.out_w), row = static_cast<T>(cell / p_.out_w),
            depth = m[6] * column + m[7] * row + m[8];
    const T x = (m[0] * column + m[1] * row + m[2]) / depth,
            y = (m[3] * column + m[4] * row + m[5]) / depth;
    int64_t rows[2], columns[2];
    T down, right;
    if (!Inside(quads_[static_cast<size_t>(roi)], x, y) ||
        !Neighbours(x, p_.width, columns, right) || !Neighbours(y, p_.height, rows, down))
      return;
    to.push_back({rows[0] * p_.width + columns[0], (1 - down) * (1 - right)});
    to.push_back({rows[0] * p_.width + columns[1], (1 - down) * right});
    to.push_back({rows[1] * p_.width + columns[0], down * (1 - right)});
    to.push_back({rows[1] * p_.width + columns[1], down * right});
  }

 private:
  const Pooled& p_;
  std::vector<Quad<T>> quads_;
  std::vector<Matrix<T>> matrices_;
};

bool Read(OpCall& call, Pooled& p) {
  using A = args::dt_roi_perspective_transform;
  static_assert(A::ROIs == args::dt_roi_perspective_transform_grad::ROIs &&
                A::X == args::dt_roi_perspective_transform_grad::X &&
                A::transformed_height ==
                    args::dt_roi_perspective_transform_grad::transformed_height &&
                A::transformed_width == args::dt_roi_perspective_transform_grad::transformed_width);
  if (!ReadPooled(call, call.Arg(A::X), call.Arg(A::ROIs), 8, -1, -1, p) ||
      !ReadCells(call, call.Int(A::transformed_height), call.Int(A::transformed_width), p))
    return false;
  p.out_channels = p.channels;
  return true;
}

constexpr auto kSameChannel = [](int64_t c, int64_t) { return c; };

// Up to four neighbours of each cell and their weights, as the framework keeps them for its
// gradient: −1 and 0 where there are none.
template <typename T>
void WriteTaps(const Pooled& p, const Transform<T>& transform, int32_t* mask, int32_t* places,
               T* weights) {
  std::vector<Tap<T>> taps;
  for (int64_t i = 0; i < p.rois * p.Cells(); ++i) {
    taps.clear();
    transform(i / p.Cells(), i % p.Cells(), 0, taps);
    mask[i] = taps.empty() ? 0 : 1;
    for (size_t k = 0; k < 4; ++k) {
      places[i * 4 + static_cast<int64_t>(k)] =
          k < taps.size() ? static_cast<int32_t>(taps[k].at) : -1;
      weights[i * 4 + static_cast<int64_t>(k)] = k < taps.size() ? taps[k].weight : T{0};
    }
  }
}

}  // namespace

// … -> Out, Mask, TransformMatrix, Out2InIdx, Out2InWeights
int32_t RoiPerspectiveTransform(OpCall& call) {
  using A = args::dt_roi_perspective_transform;
  Pooled p;
  if (!Read(call, p)) return 1;
  const DtBuffer& x = call.Arg(A::X);
  const Lod lod = OpCall::LodOf(call.Arg(A::ROIs));
  Output out(call, 2, TypeOf(x), {p.rois, p.out_channels, p.out_h, p.out_w}, lod),
      mask(call, 3, DType::kInt32, {p.rois, 1, p.out_h, p.out_w}),
      matrix(call, 4, TypeOf(x), {p.rois, 9});
  Output places(call, 5, DType::kInt32, {p.rois * p.Cells(), 4}),
      weights(call, 6, TypeOf(x), {p.rois * p.Cells(), 4});
  for (const Output* o : {&out, &mask, &matrix, &places, &weights})
    if (!o->ok()) return 1;
  return VisitFloat(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Transform<T> transform(call, p);
    PoolRois(call.context(), p, 1, Data<T>(x), out.template data<T>(), transform, kSameChannel);
    WriteTaps(p, transform, mask.template data<int32_t>(), places.template data<int32_t>(),
              weights.template data<T>());
    for (int64_t roi = 0; roi < p.rois; ++roi)
      std::copy_n(transform.matrix(roi).begin(), 9, matrix.template data<T>() + roi * 9);
    return 0;
  });
}

// …, Out@GRAD -> X@GRAD
int32_t RoiPerspectiveTransformGrad(OpCall& call) {
  using A = args::dt_roi_perspective_transform_grad;
  Pooled p;
  const DtBuffer& gradient = call.Arg(A::Out_GRAD);
  if (!Read(call, p)) return 1;
  if (Elements(gradient) != p.rois * p.channels * p.Cells() ||
      gradient.dtype != call.Arg(A::X).dtype)
    return call.Fail("'%s' has not the extents and type of the output", gradient.name);
  if (!call.Resize(call.Arg(A::X_GRAD), call.Arg(A::X))) return 1;
  return VisitFloat(call.context(), call.Arg(A::X), [&](auto tag) {
    using T = typename decltype(tag)::type;
    PoolRoisBack(call.context(), p, 1, Data<T>(gradient), Data<T>(call.Arg(A::X_GRAD)),
                 Transform<T>(call, p), kSameChannel);
    return 0;
  });
}

}  // namespace dtranspile::kernels
