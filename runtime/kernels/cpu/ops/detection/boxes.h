// Boxes (xmin, ymin, xmax, ymax) of the family `detection`: areas, overlaps, regression. `pixels`:
// corners are pixels, so that a box is one wider and higher than the difference of its corners.
#pragma once

#include <algorithm>
#include <cmath>

namespace dtranspile::kernels {

// 0 for corners in the wrong order.
template <typename T>
T BoxArea(const T* box, bool pixels) {
  if (box[2] < box[0] || box[3] < box[1]) return 0;
  const T one = pixels ? T{1} : T{0};
  return (box[2] - box[0] + one) * (box[3] - box[1] + one);
}

// Intersection over union; 0 for boxes that do not meet.
template <typename T>
T BoxOverlap(const T* a, const T* b, bool pixels) {
  if (b[0] > a[2] || b[2] < a[0] || b[1] > a[3] || b[3] < a[1]) return 0;
  const T one = pixels ? T{1} : T{0};
  const T width = std::min(a[2], b[2]) - std::max(a[0], b[0]) + one,
          height = std::min(a[3], b[3]) - std::max(a[1], b[1]) + one;
  const T common = width * height;
  return common / (BoxArea(a, pixels) + BoxArea(b, pixels) - common);
}

// The same of pixel boxes without the check of corners: an empty intersection is 0.
template <typename T>
T PixelOverlap(const T* a, const T* b) {
  const T width = std::max(std::min(a[2], b[2]) - std::max(a[0], b[0]) + 1, T{0}),
          height = std::max(std::min(a[3], b[3]) - std::max(a[1], b[1]) + 1, T{0});
  const T common = width * height;
  if (common == 0) return 0;
  return common /
         ((a[2] - a[0] + 1) * (a[3] - a[1] + 1) + (b[2] - b[0] + 1) * (b[3] - b[1] + 1) - common);
}

// What takes box `from` to box `to`, both in pixels (Girshick et al. 2014): shifts of the centre
// and logarithms of the sides' ratios.
template <typename T>
void BoxToDelta(const T* from, const T* to, T* delta) {
  for (int axis = 0; axis < 2; ++axis) {
    const T side = from[axis + 2] - from[axis] + 1, target = to[axis + 2] - to[axis] + 1;
    const T half = static_cast<T>(0.5);
    delta[axis] = ((to[axis] + half * target) - (from[axis] + half * side)) / side;
    delta[axis + 2] = std::log(target / side);
  }
}

// The inverse: anchor and deltas, these times the variances where there are some, to a box.
// Logarithms are cut at `most`.
template <typename T>
void DeltaToBox(const T* anchor, const T* delta, const T* variance, T most, bool pixels, T* box) {
  const T one = pixels ? T{1} : T{0}, half = static_cast<T>(0.5);
  for (int axis = 0; axis < 2; ++axis) {
    const T side = anchor[axis + 2] - anchor[axis] + one,
            shift = variance ? variance[axis] * delta[axis] : delta[axis];
    const T grow = variance ? variance[axis + 2] * delta[axis + 2] : delta[axis + 2];
    const T centre = shift * side + (anchor[axis] + half * side),
            width = std::exp(std::min(grow, most)) * side;
    box[axis] = centre - width / 2;
    box[axis + 2] = centre + width / 2 - one;
  }
}

// log(1000/16), where proposals cut the growth of a side.
inline constexpr double kMostGrowth = 4.135166556742356;

}  // namespace dtranspile::kernels
