// Scales of relations: exact fractions. A scale whose numbers do not fit is `lost`, which equals
// nothing and makes a relation unknown, never wrong.
#pragma once

#include <cstdint>
#include <string>

namespace dtranspile::verify {

class Rational {
 public:
  Rational() = default;
  explicit Rational(int64_t value) : numerator_(value) {}
  // Reduced; lost if the denominator is 0.
  Rational(int64_t numerator, int64_t denominator);

  // The fraction with the smallest denominator that rounds to the same `float` as `value`:
  // attributes are 32-bit floats, and 1/3 is meant where 0.333333343 stands (continued fractions;
  // Knuth, The Art of Computer Programming 2, 4.5.3). Lost for NaN and infinity.
  static Rational ofFloat(double value);
  static Rational lost();

  bool isLost() const { return denominator_ == 0; }
  bool isOne() const { return numerator_ == 1 && denominator_ == 1; }
  bool isPositive() const { return !isLost() && numerator_ > 0; }
  int64_t numerator() const { return numerator_; }
  int64_t denominator() const { return denominator_; }

  Rational operator*(const Rational& other) const;
  Rational operator+(const Rational& other) const;
  bool operator==(const Rational& other) const {
    return !isLost() && !other.isLost() && numerator_ == other.numerator_ &&
           denominator_ == other.denominator_;
  }
  std::string text() const;  // "1", "1/4"

 private:
  int64_t numerator_ = 1;
  int64_t denominator_ = 1;  // > 0; 0: lost
};

}  // namespace dtranspile::verify
