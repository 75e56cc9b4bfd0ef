// Conversions to and from bfloat16 in generated kernels: every number of it, and what lies between
// two of them.
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>

#include "test/compiler/lower/kernel/run_formula.h"

namespace dtranspile::lower {
namespace {

template <typename T>
TestTensor tensor(DType dtype, const std::vector<T>& values) {
  return TestTensor::of(dtype, {static_cast<int64_t>(values.size())}, values);
}

template <typename To, typename From>
std::vector<To> converted(DType to, DType from, const std::vector<From>& values,
                          const char* formula = "Out = X") {
  TestTensors outputs{{"Out", tensor(to, std::vector<To>(values.size()))}};
  REQUIRE(runFormula(formula, {{"X", tensor(from, values)}}, outputs) == "");
  return outputs["Out"].values<To>();
}

// Nearest, ties to even, by the distances to both neighbours. What is larger than the largest
// number by half a step or more is infinite, as the carry says.
uint16_t nearest(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value), rest = bits & 0xffffu;
  const bool odd = bits & 0x10000u;
  const bool up = rest > 0x8000u || (rest == 0x8000u && odd);
  return static_cast<uint16_t>((bits >> 16) + up);
}

bool isNan(uint16_t bits) { return (bits & 0x7fffu) > 0x7f80u; }

}  // namespace

// Zeros, denormals, infinities, the largest numbers and all ties are among them.
TEST_CASE("float32 is rounded to the nearest bfloat16, ties to even") {
  std::vector<float> values;
  for (uint32_t high = 0; high < 0x10000u; ++high)
    for (uint32_t low : {0x0u, 0x1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      values.push_back(std::bit_cast<float>(high << 16 | low));
  const auto found = converted<uint16_t>(DType::kBFloat16, DType::kFloat32, values);
  size_t wrong = 0, nans = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) {
      nans += isNan(found[i]);
      wrong += !isNan(found[i]);
    } else if (found[i] != nearest(values[i])) {
      UNSCOPED_INFO(values[i] << " becomes " << found[i] << ", not " << nearest(values[i]));
      ++wrong;
    }
  }
  CHECK(wrong == 0);
  // Two signs, 127 high parts with six low ones each, and five of the high part of infinity.
  CHECK(nans == 2 * (127 * 6 + 5));
}

TEST_CASE("bfloat16 becomes the float32 of its bits") {
  std::vector<uint16_t> values;
  for (uint32_t bits = 0; bits < 0x10000u; ++bits) values.push_back(static_cast<uint16_t>(bits));
  const auto found = converted<uint32_t>(DType::kFloat32, DType::kBFloat16, values);
  size_t wrong = 0;
  for (size_t i = 0; i < values.size(); ++i)
    wrong += isNan(values[i]) ? !std::isnan(std::bit_cast<float>(found[i]))
                              : found[i] != uint32_t{values[i]} << 16;
  CHECK(wrong == 0);
}

// Kernels have float32 in between, as the framework's.
TEST_CASE("bools and integers become bfloat16 by way of float32") {
  CHECK(converted<uint16_t>(DType::kBFloat16, DType::kBool, std::vector<uint8_t>{0, 1}) ==
        std::vector<uint16_t>{0, 0x3f80});
  // 2^25 + 2^17 + 1 lies above a tie; the float32 next to it is the tie, and goes to even.
  CHECK(converted<uint16_t>(DType::kBFloat16, DType::kInt32,
                            std::vector<int32_t>{33685505, -33685505, 3, 257, 259}) ==
        std::vector<uint16_t>{0x4c00, 0xcc00, 0x4040, 0x4380, 0x4382});
  CHECK(converted<uint16_t>(DType::kBFloat16, DType::kInt64, std::vector<int64_t>{33685505}) ==
        std::vector<uint16_t>{0x4c00});
  // What a comparison gives is a number: the mask of a gradient.
  CHECK(converted<uint16_t>(DType::kBFloat16, DType::kFloat32, std::vector<float>{-1, 2, 0, 5},
                            "Out = X > 0") == std::vector<uint16_t>{0, 0x3f80, 0, 0x3f80});
}

}  // namespace dtranspile::lower
