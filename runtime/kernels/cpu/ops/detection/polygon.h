// Overlap of convex polygons given as x1, y1, x2, y2, …: text boxes of multiclass_nms and
// locality_aware_nms.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

namespace dtranspile::kernels {

template <typename T>
using Polygon = std::vector<std::pair<T, T>>;

// Positive where the corners go round against the clock.
template <typename T>
T SignedArea(const Polygon<T>& p) {
  T sum = 0;
  for (size_t i = 0; i < p.size(); ++i) {
    const auto &a = p[i], &b = p[(i + 1) % p.size()];
    sum += a.first * b.second - b.first * a.second;
  }
  return sum / 2;
}

template <typename T>
T Turn(const std::pair<T, T>& a, const std::pair<T, T>& b, const std::pair<T, T>& c) {
  return (b.first - a.first) * (c.second - a.second) - (b.second - a.second) * (c.first - a.first);
}

// Against the clock.
template <typename T>
Polygon<T> PolygonOf(const T* numbers, int64_t count) {
  Polygon<T> p;
  for (int64_t i = 0; i + 1 < count; i += 2) p.emplace_back(numbers[i], numbers[i + 1]);
  return SignedArea(p) < 0 ? Polygon<T>(p.rbegin(), p.rend()) : p;
}

template <typename T>
bool IsConvex(const Polygon<T>& p) {
  for (size_t i = 0; i < p.size(); ++i)
    if (Turn(p[i], p[(i + 1) % p.size()], p[(i + 2) % p.size()]) < 0) return false;
  return true;
}

// What of `subject` lies within `window` (Sutherland, Hodgman 1974).
template <typename T>
Polygon<T> Intersect(Polygon<T> subject, const Polygon<T>& window) {
  for (size_t e = 0; e < window.size() && !subject.empty(); ++e) {
    const auto &from = window[e], &to = window[(e + 1) % window.size()];
    Polygon<T> inside;
    for (size_t i = 0; i < subject.size(); ++i) {
      const auto &a = subject[i], &b = subject[(i + 1) % subject.size()];
      const T side_a = Turn(from, to, a), side_b = Turn(from, to, b);
      if (side_a >= 0) inside.push_back(a);
      if ((side_a > 0 && side_b < 0) || (side_a < 0 && side_b > 0)) {
        const T share = side_a / (side_a - side_b);
        inside.emplace_back(a.first + share * (b.first - a.first),
                            a.second + share * (b.second - a.second));
      }
    }
    subject = std::move(inside);
  }
  return subject;
}

// Intersection over union.
template <typename T>
T PolygonOverlap(const Polygon<T>& a, const Polygon<T>& b) {
  const T area_a = std::fabs(SignedArea(a)), area_b = std::fabs(SignedArea(b)),
          common = std::fabs(SignedArea(Intersect(a, b)));
  if (area_a == 0 || area_b == 0 || common == 0) return 0;
  return common / (area_a + area_b - common);
}

}  // namespace dtranspile::kernels
