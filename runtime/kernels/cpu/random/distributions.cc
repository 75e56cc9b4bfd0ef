#include "runtime/kernels/cpu/random/distributions.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/kernels/cpu/random/erfinv.h"

namespace dtranspile::random {
namespace {

// The normal distribution function, in double.
double NormalCdf(double x) { return (1.0 + std::erf(x / std::sqrt(2.0))) / 2.0; }

// The engine's next point inside the unit circle, and the factor that makes its coordinates normal.
template <typename T>
struct PolarPoint {
  T x;
  T y;
  T factor;

  explicit PolarPoint(Engine& engine) {
    T square;
    do {
      x = T(2) * engine.Canonical<T>() - T(1);
      y = T(2) * engine.Canonical<T>() - T(1);
      square = x * x + y * y;
    } while (square > T(1) || square == T(0));
    factor = std::sqrt(T(-2) * std::log(square) / square);
  }
};

}  // namespace

template <typename T>
void FillUniform(Engine& engine, T* out, int64_t count, float min, float max, Diagonal diagonal) {
  const T low = min;
  const T range = static_cast<T>(max) - low;
  for (int64_t i = 0; i < count; ++i) out[i] = engine.Canonical<T>() * range + low;
  const int64_t stride = diagonal.step + 1;
  for (int64_t i = 0; i < diagonal.num && i * stride < count; ++i) out[i * stride] = diagonal.value;
}

template <typename T>
void FillGaussian(Engine& engine, T* out, int64_t count, double mean, double std) {
  const T center = static_cast<T>(mean);
  const T deviation = static_cast<T>(std);
  for (int64_t i = 0; i < count; i += 2) {
    const PolarPoint<T> point(engine);
    out[i] = point.y * point.factor * deviation + center;
    if (i + 1 < count) out[i + 1] = point.x * point.factor * deviation + center;
  }
}

// By inversion: a uniform number between the probabilities of the bounds goes through the inverse
// of the normal distribution. Types and order of the operations are the framework's, so that the
// bits are too.
template <typename T>
void FillTruncatedGaussian(Engine& engine, T* out, int64_t count, double mean, double std,
                           std::optional<Bounds> bounds) {
  const Tails tails =
      engine.release() == Release::kFluid1 ? Tails::kFormulaOfTheMiddle : Tails::kOwnFormulas;
  const T center = static_cast<T>(mean);
  const T deviation = static_cast<T>(std);
  const T low = bounds ? static_cast<T>(bounds->low) : T(0);
  const T high = bounds ? static_cast<T>(bounds->high) : T(0);
  const T from = static_cast<T>(NormalCdf(bounds ? (low - center) / deviation : T(-2)));
  const T to = static_cast<T>(NormalCdf(bounds ? (high - center) / deviation : T(2)));
  // Uniform numbers begin with the smallest normal float, whatever T is.
  const T tiny = std::numeric_limits<float>::min();
  for (int64_t i = 0; i < count; ++i) {
    const T uniform = engine.Canonical<T>() * (T(1) - tiny) + tiny;
    const T probability = from + (to - from) * uniform;
    const T quantile = Erfinv<T>(T(2) * probability - T(1), tails);
    const T value = static_cast<T>(std::sqrt(2.0) * quantile * deviation + center);
    out[i] = bounds ? std::clamp(value, low, high) : value;
  }
}

#define DT_INSTANTIATE(T)                                                                          \
  template void FillUniform<T>(Engine & engine, T * out, int64_t count, float min, float max,      \
                               Diagonal diagonal);                                                 \
  template void FillGaussian<T>(Engine & engine, T * out, int64_t count, double mean, double std); \
  template void FillTruncatedGaussian<T>(Engine & engine, T * out, int64_t count, double mean,     \
                                         double std, std::optional<Bounds> bounds);
DT_INSTANTIATE(float)
DT_INSTANTIATE(double)
#undef DT_INSTANTIATE

}  // namespace dtranspile::random
