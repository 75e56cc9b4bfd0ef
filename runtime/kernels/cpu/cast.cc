// dt_cast of shape.h: every pair of types but the complex ones.
#include <bit>
#include <cmath>

#include "runtime/kernels/cpu/shape.h"
#include "runtime/kernels/cpu/support.h"

namespace dtranspile::kernels {
namespace {

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
    return {static_cast<uint16_t>(sign | static_cast<uint16_t>(std::nearbyint(std::bit_cast<float>(magnitude) * 0x1p24f)))};
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

template <typename To, typename From>
To Convert(From value) {
  if constexpr (kIsSmallFloat<From>) return Convert<To>(value.ToFloat());
  else if constexpr (kIsSmallFloat<To>) return To::From(static_cast<float>(value));
  else if constexpr (std::is_same_v<To, bool>) return value != From{0};
  else return static_cast<To>(value);
}

template <typename From, typename To>
void Convert(DtContext* context, const DtBuffer& x, const DtBuffer& y) {
  const From* from = Data<const From>(x);
  To* to = Data<To>(y);
  Parallel(context, Elements(x), GrainFor(sizeof(From) + sizeof(To)), [&](int64_t lo, int64_t n) {
    for (int64_t i = lo; i < lo + n; ++i) to[i] = Convert<To>(from[i]);
  });
}

template <typename Visit>
int32_t VisitAny(DtContext* context, const DtBuffer& buffer, Visit&& visit) {
  switch (TypeOf(buffer)) {
    case DType::kBool: return visit(TypeTag<bool>());
    case DType::kInt8: return visit(TypeTag<int8_t>());
    case DType::kUInt8: return visit(TypeTag<uint8_t>());
    case DType::kInt16: return visit(TypeTag<int16_t>());
    case DType::kInt32: return visit(TypeTag<int32_t>());
    case DType::kUInt32: return visit(TypeTag<uint32_t>());
    case DType::kInt64: return visit(TypeTag<int64_t>());
    case DType::kUInt64:
    case DType::kSizeT: return visit(TypeTag<uint64_t>());
    case DType::kFloat16: return visit(TypeTag<Float16>());
    case DType::kBFloat16: return visit(TypeTag<BFloat16>());
    case DType::kFloat32: return visit(TypeTag<float>());
    case DType::kFloat64: return visit(TypeTag<double>());
    default: return dt_fail(context, "no conversion of %s", TypeName(buffer));
  }
}

}  // namespace
}  // namespace dtranspile::kernels

extern "C" int32_t dt_cast(DtContext* context, const DtCall* call) {
  using namespace dtranspile::kernels;
  if (!CheckCall(context, call, {2, 0, 0, 0})) return 1;
  const DtBuffer &x = call->args[0], &y = call->args[1];
  if (Elements(x) != Elements(y)) return dt_fail(context, "%lld elements to %lld", static_cast<long long>(Elements(x)), static_cast<long long>(Elements(y)));
  return VisitAny(context, x, [&](auto from) {
    return VisitAny(context, y, [&](auto to) {
      Convert<typename decltype(from)::type, typename decltype(to)::type>(context, x, y);
      return 0;
    });
  });
}
