#include "runtime/kernels/cpu/random/erfinv.h"

#include <cmath>
#include <limits>

namespace dtranspile::random {
namespace {

constexpr long double kSqrt2 = 1.41421356237309504880168872420969808L;

struct Polynomial {
  long double scale;
  long double coefficients[8];  // of r^0 to r^7

  template <typename T>
  T At(T r) const {
    T sum = static_cast<T>(coefficients[7] * scale);
    for (int i = 6; i >= 0; --i) sum = sum * r + static_cast<T>(coefficients[i] * scale);
    return sum;
  }
};

struct Region {
  Polynomial numerator;
  Polynomial denominator;
};

// PPND16's coefficients, from the paper. The algorithm inverts the normal distribution function, of
// which erf differs by factors: x = 2 q, and the result is divided by sqrt(2).
constexpr Region kMiddle = {
    {1.0L / (2.0L * kSqrt2),
     {3.3871328727963666080e0L, 1.3314166789178437745e2L, 1.9715909503065514427e3L,
      1.3731693765509461125e4L, 4.5921953931549871457e4L, 6.7265770927008700853e4L,
      3.3430575583588128105e4L, 2.5090809287301226727e3L}},
    {1.0L,
     {1.0L, 4.2313330701600911252e1L, 6.8718700749205790830e2L, 5.3941960214247511077e3L,
      2.1213794301586595867e4L, 3.9307895800092710610e4L, 2.8729085735721942674e4L,
      5.2264952788528545610e3L}}};
constexpr Region kNearTail = {
    {1.0L,
     {1.42343711074968357734e0L, 4.63033784615654529590e0L, 5.76949722146069140550e0L,
      3.64784832476320460504e0L, 1.27045825245236838258e0L, 2.41780725177450611770e-1L,
      2.27238449892691845833e-2L, 7.74545014278341407640e-4L}},
    {kSqrt2,
     {1.0L, 2.05319162663775882187e0L, 1.67638483018380384940e0L, 6.89767334985100004550e-1L,
      1.48103976427480074590e-1L, 1.51986665636164571966e-2L, 5.47593808499534494600e-4L,
      1.05075007164441684324e-9L}}};
constexpr Region kFarTail = {
    {1.0L,
     {6.65790464350110377720e0L, 5.46378491116411436990e0L, 1.78482653991729133580e0L,
      2.96560571828504891230e-1L, 2.65321895265761230930e-2L, 1.24266094738807843860e-3L,
      2.71155556874348757815e-5L, 2.01033439929228813265e-7L}},
    {kSqrt2,
     {1.0L, 5.99832206555887937690e-1L, 1.36929880922735805310e-1L, 1.48753612908506148525e-2L,
      7.86869131145613259100e-4L, 1.84631831751005468180e-5L, 1.42151175831644588870e-7L,
      2.04426310338993978564e-15L}}};

constexpr double kLn2 = 6.931471805599453094172321214581e-1;

}  // namespace

// Rational approximations in three regions (Wichura 1988, AS 241), as the framework has them; early
// versions take that of the middle everywhere.
template <typename T>
T Erfinv(T x, Tails tails) {
  const T magnitude = std::abs(x);
  if (magnitude >= T(1)) return std::copysign(std::numeric_limits<T>::infinity(), x);
  if (magnitude <= T(0.85) || tails == Tails::kFormulaOfTheMiddle) {
    const T r = static_cast<T>(0.180625 - 0.25 * x * x);
    return x * kMiddle.numerator.At(r) / kMiddle.denominator.At(r);
  }
  // Logarithm and root are taken in double, whatever T is.
  const T r = static_cast<T>(std::sqrt(static_cast<T>(kLn2) - std::log(1.0 - magnitude)));
  const Region& region = r <= T(5) ? kNearTail : kFarTail;
  const T s = static_cast<T>(r - (r <= T(5) ? 1.6 : 5.0));
  return std::copysign(region.numerator.At(s) / region.denominator.At(s), x);
}

template float Erfinv<float>(float x, Tails tails);
template double Erfinv<double>(double x, Tails tails);

}  // namespace dtranspile::random
