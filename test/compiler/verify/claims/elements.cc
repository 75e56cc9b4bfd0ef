#include "test/compiler/verify/claims/elements.h"

#include <cmath>

namespace dtranspile::claims {
namespace {

// Calls f with the type of the numbers of `dtype`; false where it has none here.
template <typename F>
bool withType(DType dtype, F f) {
  switch (dtype) {
    case DType::kFloat32:
    case DType::kComplex64: return f(float()), true;
    case DType::kFloat64:
    case DType::kComplex128: return f(double()), true;
    case DType::kInt64:
    case DType::kUInt64:
    case DType::kSizeT: return f(int64_t()), true;
    case DType::kInt32: return f(int32_t()), true;
    case DType::kUInt32: return f(uint32_t()), true;
    case DType::kInt16: return f(int16_t()), true;
    case DType::kInt8: return f(int8_t()), true;
    case DType::kUInt8:
    case DType::kBool: return f(uint8_t()), true;
    default: return false;
  }
}

}  // namespace

int64_t numbersPerElement(DType dtype) {
  return dtype == DType::kComplex64 || dtype == DType::kComplex128 ? 2 : 1;
}

int64_t countOf(const Tensor& tensor) {
  return tensor.view().bytes() / static_cast<int64_t>(SizeOf(tensor.dtype)) *
         numbersPerElement(tensor.dtype);
}

bool isFloating(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat64 || dtype == DType::kComplex64 ||
         dtype == DType::kComplex128 || dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

bool hasNumbers(DType dtype) {
  return withType(dtype, [](auto) {});
}

double number(const Tensor& tensor, int64_t i) {
  double value = std::nan("");
  withType(tensor.dtype,
           [&](auto type) { value = static_cast<double>(tensor.as<decltype(type)>()[i]); });
  return value;
}

void setNumber(Tensor& tensor, int64_t i, double value) {
  withType(tensor.dtype,
           [&](auto type) { tensor.as<decltype(type)>()[i] = static_cast<decltype(type)>(value); });
}

}  // namespace dtranspile::claims
