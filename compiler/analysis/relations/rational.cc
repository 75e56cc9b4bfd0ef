#include "compiler/analysis/relations/rational.h"

#include <cmath>
#include <numeric>

namespace dtranspile::verify {
namespace {

// Far above every world size; keeps the search short.
constexpr int64_t kLargestDenominator = int64_t{1} << 40;

}  // namespace

Rational Rational::lost() {
  Rational result;
  result.denominator_ = 0;
  return result;
}

// In lowest terms with a positive denominator. INT64_MIN has no positive counterpart, and is lost.
Rational::Rational(int64_t numerator, int64_t denominator) {
  if (denominator == 0 || numerator == INT64_MIN || denominator == INT64_MIN) {
    denominator_ = 0;
    return;
  }
  int64_t divisor = std::gcd(numerator, denominator);
  if (denominator < 0) divisor = -divisor;
  numerator_ = numerator / divisor;
  denominator_ = denominator / divisor;
}

// The scale that a float attribute was written for: 1/3 is stored as the nearest float, and the
// proof needs the third. Walks the convergents of the continued fraction, which are the best
// approximations by denominator, and takes the first that rounds to the same float. A number that
// no fraction with a small denominator rounds to has no exact scale, and is lost.
Rational Rational::ofFloat(double value) {
  if (!std::isfinite(value) || std::fabs(value) >= 0x1p53) return lost();
  if (value < 0) return ofFloat(-value) * Rational(-1);
  // Convergents p/q of the continued fraction of `value`.
  int64_t p0 = 0, q0 = 1, p1 = 1, q1 = 0;
  double rest = value;
  for (int step = 0; step < 64; ++step) {
    if (rest >= 0x1p53) break;
    auto whole = static_cast<int64_t>(std::floor(rest));
    int64_t p2, q2;
    if (__builtin_mul_overflow(whole, p1, &p2) || __builtin_add_overflow(p2, p0, &p2)) break;
    if (__builtin_mul_overflow(whole, q1, &q2) || __builtin_add_overflow(q2, q0, &q2) ||
        q2 > kLargestDenominator)
      break;
    if (static_cast<float>(static_cast<double>(p2) / static_cast<double>(q2)) ==
        static_cast<float>(value))
      return Rational(p2, q2);
    p0 = p1, q0 = q1, p1 = p2, q1 = q2;
    double fraction = rest - static_cast<double>(whole);
    if (fraction <= 0) break;
    rest = 1 / fraction;
  }
  return lost();
}

Rational Rational::operator*(const Rational& other) const {
  if (isLost() || other.isLost()) return lost();
  if (numerator_ == 0 || other.numerator_ == 0) return Rational(0);
  // Reduced crosswise first, so that only results that do not fit overflow.
  int64_t a = std::gcd(numerator_, other.denominator_),
          b = std::gcd(other.numerator_, denominator_);
  int64_t numerator, denominator;
  if (__builtin_mul_overflow(numerator_ / a, other.numerator_ / b, &numerator)) return lost();
  if (__builtin_mul_overflow(denominator_ / b, other.denominator_ / a, &denominator)) return lost();
  return Rational(numerator, denominator);
}

Rational Rational::operator+(const Rational& other) const {
  if (isLost() || other.isLost()) return lost();
  int64_t a, b, numerator, denominator;
  if (__builtin_mul_overflow(numerator_, other.denominator_, &a) ||
      __builtin_mul_overflow(other.numerator_, denominator_, &b))
    return lost();
  if (__builtin_add_overflow(a, b, &numerator) ||
      __builtin_mul_overflow(denominator_, other.denominator_, &denominator))
    return lost();
  return Rational(numerator, denominator);
}

std::string Rational::text() const {
  if (isLost()) return "?";
  std::string text = std::to_string(numerator_);
  return denominator_ == 1 ? text : text + "/" + std::to_string(denominator_);
}

}  // namespace dtranspile::verify
