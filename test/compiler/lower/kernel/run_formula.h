// Compiles the kernels of a formula and runs them over vectors: what the numeric tests of formulas
// and rules share.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/lower/kernel/formula.h"

namespace dtranspile::lower {

struct TestTensor {
  DType dtype;
  std::vector<int64_t> dims;
  std::vector<unsigned char> bytes;  // 64-byte aligned copies are made for the run
  int axis = -1;

  template <typename T>
  static TestTensor of(DType dtype, std::vector<int64_t> dims, const std::vector<T>& values);
  template <typename T>
  std::vector<T> values() const;
};

using TestTensors = std::map<std::string, TestTensor>;

// Runs `formula`; `outputs` are zeroed before and hold the results after. `shared` maps an output
// to the input whose memory it updates. `cut`: run each kernel in pieces of that many rows. Returns
// the error of the compiler or "element N" of a kernel that has divided by zero, empty on success.
std::string runFormula(const std::string& formula, const TestTensors& inputs, TestTensors& outputs,
                       const std::map<std::string, double>& attributes = {},
                       const std::vector<bool>& inner = {},
                       const std::map<std::string, std::string>& shared = {},
                       int64_t cut = 1 << 30);

template <typename T>
TestTensor TestTensor::of(DType dtype, std::vector<int64_t> dims, const std::vector<T>& values) {
  const auto* begin = reinterpret_cast<const unsigned char*>(values.data());
  return {dtype, std::move(dims),
          std::vector<unsigned char>(begin, begin + values.size() * sizeof(T))};
}

template <typename T>
std::vector<T> TestTensor::values() const {
  const T* begin = reinterpret_cast<const T*>(bytes.data());
  return std::vector<T>(begin, begin + bytes.size() / sizeof(T));
}

}  // namespace dtranspile::lower
