#include "test/compiler/verify/claims/elements.h"

#include <algorithm>
#include <cmath>

#include "runtime/kernels/cpu/small_float.h"

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
    case DType::kFloat16: return f(kernels::Float16()), true;
    case DType::kBFloat16: return f(kernels::BFloat16()), true;
    default: return false;
  }
}

template <typename T>
double asNumber(T value) {
  if constexpr (kernels::kIsSmallFloat<T>) return value.ToFloat();
  else return static_cast<double>(value);
}

template <typename T>
T ofNumber(double value) {
  if constexpr (kernels::kIsSmallFloat<T>) return T::From(static_cast<float>(value));
  else return static_cast<T>(value);
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

bool isHalf(DType dtype) { return dtype == DType::kFloat16 || dtype == DType::kBFloat16; }

bool hasNumbers(DType dtype) {
  return withType(dtype, [](auto) {});
}

double number(const Tensor& tensor, int64_t i) {
  double value = std::nan("");
  withType(tensor.dtype, [&](auto type) { value = asNumber(tensor.as<decltype(type)>()[i]); });
  return value;
}

void setNumber(Tensor& tensor, int64_t i, double value) {
  withType(tensor.dtype,
           [&](auto type) { tensor.as<decltype(type)>()[i] = ofNumber<decltype(type)>(value); });
}

std::shared_ptr<const Tensor> onGrid(const Tensor& tensor, DType half) {
  auto rounded = Tensor::Zeros(half, tensor.dims);
  if (!rounded.ok()) return nullptr;
  for (int64_t i = 0, count = countOf(tensor); i < count; ++i) {
    const double value = number(tensor, i);
    setNumber(*rounded, i,
              std::isfinite(value) ? std::clamp(std::round(value * 8) / 8, -8.0, 8.0) : value);
  }
  rounded->lod = tensor.lod;
  return std::make_shared<const Tensor>(std::move(*rounded));
}

}  // namespace dtranspile::claims
