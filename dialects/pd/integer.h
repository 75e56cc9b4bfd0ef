// Numbers of attributes, which are floats and may say anything, as integers.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>

namespace dtranspile::pd {

// The number without its fraction. Nothing for NaN and for what int64 does not hold: to convert
// these is undefined.
inline std::optional<int64_t> truncated(double number) {
  if (!(std::abs(number) < 0x1p63)) return std::nullopt;
  return static_cast<int64_t>(number);
}

// Nothing for numbers with a fraction, too.
inline std::optional<int64_t> wholeNumber(double number) {
  const std::optional<int64_t> integer = truncated(number);
  return integer && static_cast<double>(*integer) == number ? integer : std::nullopt;
}

}  // namespace dtranspile::pd
