// float16 and bfloat16 as element types: bits, and conversions that round to nearest even. For
// library calls that compute in float and keep such elements in memory.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "runtime/kernels/cpu/support.h"

namespace dtranspile::kernels {

struct BFloat16 {
  uint16_t bits;

  static BFloat16 From(float value) {
    const auto bits = std::bit_cast<uint32_t>(value);
    if (std::isnan(value)) return {static_cast<uint16_t>(bits >> 16 | 0x40)};
    return {static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
  }
  float ToFloat() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};

// IEEE binary16 by integer arithmetic, since the conversion instructions are not on every x86-64.
struct Float16 {
  uint16_t bits;

  static Float16 From(float value) {
    const auto word = std::bit_cast<uint32_t>(value);
    const auto sign = static_cast<uint16_t>(word >> 16 & 0x8000);
    const uint32_t magnitude = word & 0x7fffffff;
    if (magnitude > 0x7f800000) return {static_cast<uint16_t>(sign | 0x7e00)};
    if (magnitude >= 0x477ff000) return {static_cast<uint16_t>(sign | 0x7c00)};
    if (magnitude >= 0x38800000) {
      const uint32_t rebased = magnitude - (112u << 23);
      return {static_cast<uint16_t>(sign | ((rebased + 0xfff + (rebased >> 13 & 1)) >> 13))};
    }
    // Subnormal: units of 2^-24, rounded to nearest even by the scaling of the float.
    return {static_cast<uint16_t>(
        sign | static_cast<uint16_t>(std::nearbyint(std::bit_cast<float>(magnitude) * 0x1p24f)))};
  }
  float ToFloat() const {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
    const uint32_t exponent = bits >> 10 & 0x1f, mantissa = bits & 0x3ff;
    if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000 | mantissa << 13);
    if (exponent == 0) {
      const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
      return sign ? -magnitude : magnitude;
    }
    return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  }
};

template <typename T>
constexpr bool kIsSmallFloat = std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16>;

// A number as it is computed with, and back.
template <typename T>
auto Widen(T value) {
  if constexpr (kIsSmallFloat<T>) return value.ToFloat();
  else return value;
}
template <typename T, typename From>
T Narrow(From value) {
  if constexpr (kIsSmallFloat<T>) return T::From(static_cast<float>(value));
  else return static_cast<T>(value);
}

// visit(TypeTag<T>) for the four floating-point types; a message for any other.
template <typename Visit>
int32_t VisitAnyFloat(DtContext* context, const DtBuffer& buffer, Visit&& visit) {
  switch (TypeOf(buffer)) {
    case DType::kFloat16: return visit(TypeTag<Float16>());
    case DType::kBFloat16: return visit(TypeTag<BFloat16>());
    case DType::kFloat32: return visit(TypeTag<float>());
    case DType::kFloat64: return visit(TypeTag<double>());
    default:
      return dt_fail(context, "element type %s, expected a floating-point type", TypeName(buffer));
  }
}

}  // namespace dtranspile::kernels
