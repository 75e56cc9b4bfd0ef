// Special values of reductions; ordinary ones are in the conformance suite.
#include "runtime/comm/reduce.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace dtranspile::comm::test {
namespace {

template <typename T>
std::vector<T> ReduceTwo(DType dtype, ReduceOp reduce, const std::vector<T>& a,
                         const std::vector<T>& b) {
  REQUIRE(CheckReduce(dtype, reduce).ok());
  std::vector<T> out(a.size());
  const std::byte* sources[] = {reinterpret_cast<const std::byte*>(a.data()),
                                reinterpret_cast<const std::byte*>(b.data())};
  Reduce(dtype, reduce, sources, 2, reinterpret_cast<std::byte*>(out.data()),
         static_cast<int64_t>(a.size()));
  return out;
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

TEST_CASE("max and min let no NaN disappear") {
  for (const ReduceOp reduce : {ReduceOp::kMax, ReduceOp::kMin}) {
    const std::vector<float> out =
        ReduceTwo<float>(DType::kFloat32, reduce, {kNan, 1, kNan, -kInf}, {2, kNan, kNan, kInf});
    CHECK(std::isnan(out[0]));
    CHECK(std::isnan(out[1]));
    CHECK(std::isnan(out[2]));
    CHECK(out[3] == (reduce == ReduceOp::kMax ? kInf : -kInf));
  }
}

TEST_CASE("integers wrap around") {
  CHECK(ReduceTwo<int32_t>(DType::kInt32, ReduceOp::kSum, {INT32_MAX}, {1})[0] == INT32_MIN);
  CHECK(ReduceTwo<int64_t>(DType::kInt64, ReduceOp::kProd, {INT64_MIN}, {-1})[0] == INT64_MIN);
  CHECK(ReduceTwo<int16_t>(DType::kInt16, ReduceOp::kProd, {-1}, {-1})[0] == 1);
  CHECK(ReduceTwo<int16_t>(DType::kInt16, ReduceOp::kProd, {INT16_MIN}, {INT16_MIN})[0] == 0);
  CHECK(ReduceTwo<uint8_t>(DType::kUInt8, ReduceOp::kSum, {200}, {100})[0] == 44);
  CHECK(ReduceTwo<int8_t>(DType::kInt8, ReduceOp::kMin, {-128}, {127})[0] == -128);
}

TEST_CASE("any byte but 0 is true, and true is 1") {
  const std::vector<uint8_t> a = {0, 0, 7, 255}, b = {0, 9, 0, 2};
  CHECK(ReduceTwo<uint8_t>(DType::kBool, ReduceOp::kSum, a, b) == std::vector<uint8_t>{0, 1, 1, 1});
  CHECK(ReduceTwo<uint8_t>(DType::kBool, ReduceOp::kProd, a, b) ==
        std::vector<uint8_t>{0, 0, 0, 1});
}

// Every float16 and bfloat16, added to 0: the conversions both ways, vectorised and not (65536 + 3
// elements).
TEST_CASE("16-bit floats come through unchanged") {
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    std::vector<uint16_t> all(65536 + 3), zero(all.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
    const std::vector<uint16_t> out = ReduceTwo<uint16_t>(dtype, ReduceOp::kSum, all, zero);
    const uint16_t infinity = dtype == DType::kFloat16 ? 0x7c00 : 0x7f80;
    int wrong = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      const bool nan = (all[i] & 0x7fff) > infinity, minus_zero = all[i] == 0x8000;
      const bool right = nan          ? (out[i] & 0x7fff) > infinity
                         : minus_zero ? out[i] == 0
                                      : out[i] == all[i];
      wrong += !right;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("16-bit floats round once, to nearest even") {
  // 2048 + 1 + 1 in float16: rounding after every step would stay at 2048.
  const uint16_t h2048 = 0x6800, h1 = 0x3c00;
  const uint16_t* data[] = {&h2048, &h1, &h1};
  const std::byte* sources[3];
  std::memcpy(sources, data, sizeof(data));
  uint16_t out = 0;
  Reduce(DType::kFloat16, ReduceOp::kSum, sources, 3, reinterpret_cast<std::byte*>(&out), 1);
  CHECK(out == 0x6801);
  // bfloat16 256 + 1 is a tie (257 has 9 bits): to even, 256; 258 + 1: to 260.
  CHECK(ReduceTwo<uint16_t>(DType::kBFloat16, ReduceOp::kSum, {0x4380, 0x4381}, {0x3f80, 0x3f80}) ==
        std::vector<uint16_t>{0x4380, 0x4382});
  // The largest finite one plus itself.
  CHECK(ReduceTwo<uint16_t>(DType::kBFloat16, ReduceOp::kSum, {0x7f7f}, {0x7f7f})[0] == 0x7f80);
}

TEST_CASE("in place and unaligned, with a copy") {
  std::vector<std::byte> memory(4 * 1000 + 1), other(4 * 1000), copy(4 * 1000);
  for (int i = 0; i < 1000; ++i) {
    const float a = static_cast<float>(i), b = 0.5f;
    std::memcpy(memory.data() + 1 + 4 * i, &a, 4);
    std::memcpy(other.data() + 4 * i, &b, 4);
  }
  const std::byte* sources[] = {other.data(), memory.data() + 1};
  Reduce(DType::kFloat32, ReduceOp::kSum, sources, 2, memory.data() + 1, 1000, copy.data());
  CHECK(std::memcmp(memory.data() + 1, copy.data(), copy.size()) == 0);
  float last;
  std::memcpy(&last, copy.data() + 4 * 999, 4);
  CHECK(last == 999.5f);
}

TEST_CASE("reductions without a meaning are refused") {
  CHECK_FALSE(CheckReduce(DType::kFloat32, ReduceOp::kOr).ok());
  CHECK_FALSE(CheckReduce(DType::kComplex64, ReduceOp::kMax).ok());
  CHECK_FALSE(CheckReduce(static_cast<DType>(1234), ReduceOp::kSum).ok());
}

}  // namespace
}  // namespace dtranspile::comm::test
