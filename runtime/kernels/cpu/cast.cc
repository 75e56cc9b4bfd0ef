// dt_cast of shape.h: every pair of types but the complex ones.
#include <type_traits>

#include "runtime/kernels/args/shape.h"
#include "runtime/kernels/cpu/shape.h"
#include "runtime/kernels/cpu/small_float.h"
#include "runtime/kernels/cpu/support.h"

namespace dtranspile::kernels {
namespace {

template <typename To, typename From>
To Convert(From value) {
  if constexpr (kIsSmallFloat<From>) return Convert<To>(value.ToFloat());
  else if constexpr (kIsSmallFloat<To>) return To::From(static_cast<float>(value));
  else if constexpr (std::is_same_v<To, bool>) return value != From{0};
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
    return ToInteger<To>(value);
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

int32_t Cast(OpCall& call) {
  using A = args::dt_cast;
  const DtBuffer &x = call.Arg(A::X), &out = call.Arg(A::Out);
  if (Elements(x) != Elements(out))
    return call.Fail("%lld elements to %lld", static_cast<long long>(Elements(x)),
                     static_cast<long long>(Elements(out)));
  return VisitAny(call.context(), x, [&](auto from) {
    return VisitAny(call.context(), out, [&](auto to) {
      Convert<typename decltype(from)::type, typename decltype(to)::type>(call.context(), x, out);
      return 0;
    });
  });
}

}  // namespace dtranspile::kernels
