// Tensors for the tests of library calls (slot_call.h).
#pragma once

#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/base/dtype.h"
#include "runtime/exec/context.h"
#include "runtime/kernels/cpu/call_table.h"

namespace dtranspile::kernels {

template <typename T>
struct CodeOf;
template <>
struct CodeOf<float> : std::integral_constant<DType, DType::kFloat32> {};
template <>
struct CodeOf<double> : std::integral_constant<DType, DType::kFloat64> {};
template <>
struct CodeOf<int32_t> : std::integral_constant<DType, DType::kInt32> {};
template <>
struct CodeOf<int64_t> : std::integral_constant<DType, DType::kInt64> {};
template <>
struct CodeOf<uint8_t> : std::integral_constant<DType, DType::kUInt8> {};
template <>
struct CodeOf<uint16_t> : std::integral_constant<DType, DType::kFloat16> {};

inline int64_t Product(const std::vector<int64_t>& dims) {
  int64_t product = 1;
  for (int64_t dim : dims) product *= dim;
  return product;
}

template <typename T>
struct Tensor {
  std::vector<int64_t> dims;
  std::vector<T> data;
  DType type = CodeOf<T>::value;

  explicit Tensor(std::vector<int64_t> d, T fill = T{})
      : dims(std::move(d)), data(static_cast<size_t>(Product(dims)), fill) {}
  T& operator[](int64_t i) { return data[static_cast<size_t>(i)]; }
  const T& operator[](int64_t i) const { return data[static_cast<size_t>(i)]; }
};

// Values in [-1, 1), the same for the same seed.
template <typename T>
Tensor<T> Noise(std::vector<int64_t> dims, unsigned seed) {
  Tensor<T> tensor(std::move(dims));
  std::mt19937 generator(seed);
  for (T& value : tensor.data)
    value = static_cast<T>(static_cast<double>(generator()) / 2147483648.0 - 1.0);
  return tensor;
}

}  // namespace dtranspile::kernels
