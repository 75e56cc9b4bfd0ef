#include "dialects/pd/integer.h"

#include <catch2/catch.hpp>
#include <limits>

namespace dtranspile::pd {

TEST_CASE("numbers that int64 holds become integers, others nothing") {
  CHECK(truncated(2.75) == 2);
  CHECK(truncated(-2.75) == -2);
  CHECK(wholeNumber(-3) == -3);
  CHECK(!wholeNumber(2.75));
  const double largest = std::nextafter(0x1p63, 0);
  CHECK(wholeNumber(largest) == int64_t{9223372036854774784});
  CHECK(wholeNumber(-largest) == -int64_t{9223372036854774784});
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (double none : {0x1p63, -0x1p63, 1e30, -1e300, kInfinity, -kInfinity, std::nan("")}) {
    INFO(none);
    CHECK(!truncated(none));
    CHECK(!wholeNumber(none));
  }
}

}  // namespace dtranspile::pd
