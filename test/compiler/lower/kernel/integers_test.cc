// Integer arithmetic at its edges, for every element type: what hardware traps on or leaves
// undefined. The formulas are those of the rule tables.
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>

#include "test/compiler/lower/kernel/run_formula.h"

namespace dtranspile::lower {
namespace {

using Binary = __int128 (*)(__int128, __int128);

__int128 floorDivision(__int128 a, __int128 b) {
  const __int128 q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

struct Case {
  const char* formula;
  Binary exact;  // in integers that do not overflow; the result wraps into the type
  bool divides;  // refuses a divisor of 0
};

// Every operation on two integers that a formula may have (Sub, Mul … included, which wrap).
const Case kBinary[] = {
    {"Out = X + Y", [](__int128 a, __int128 b) { return a + b; }, false},
    {"Out = X - Y", [](__int128 a, __int128 b) { return a - b; }, false},
    {"Out = X * Y", [](__int128 a, __int128 b) { return a * b; }, false},
    {"Out = min(X, Y)", [](__int128 a, __int128 b) { return a < b ? a : b; }, false},
    {"Out = max(X, Y)", [](__int128 a, __int128 b) { return a > b ? a : b; }, false},
    {"Out = X / Y", [](__int128 a, __int128 b) { return a / b; }, true},
    {"Out = floordiv(X, Y)", floorDivision, true},
    {"Out = rem(X, Y)", [](__int128 a, __int128 b) { return a % b; }, true},
    {"m = rem(X, Y); Out = m != 0 && (m < 0) != (Y < 0) ? m + Y : m",
     [](__int128 a, __int128 b) { return a - floorDivision(a, b) * b; }, true},
    {"Out = -X", [](__int128 a, __int128) { return -a; }, false},
    {"Out = abs(X)", [](__int128 a, __int128) { return a < 0 ? -a : a; }, false},
    {"Out = X / -1", [](__int128 a, __int128) { return -a; }, false},
    {"Out = rem(X, -1)", [](__int128, __int128) { return __int128(0); }, false},
    {"Out = X / 7", [](__int128 a, __int128) { return a / 7; }, false},
};

template <typename T>
std::vector<T> edges(bool zero) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values = {1,
                           2,
                           3,
                           7,
                           Limits::max(),
                           static_cast<T>(Limits::max() - 1),
                           Limits::min(),
                           static_cast<T>(Limits::min() + 1),
                           static_cast<T>(-1),
                           static_cast<T>(-2),
                           static_cast<T>(-5)};
  if (zero) values.push_back(0);
  std::erase_if(values, [&](T v) { return v == 0 && !zero; });
  return values;
}

template <typename T>
struct Pairs {
  explicit Pairs(bool zero) {
    for (T a : edges<T>(true))
      for (T b : edges<T>(zero)) x.push_back(a), y.push_back(b);
  }
  std::vector<T> x, y;
};

template <typename T>
TestTensor tensor(DType dtype, const std::vector<T>& values) {
  return TestTensor::of(dtype, {static_cast<int64_t>(values.size())}, values);
}

template <typename T>
void checkBinary(DType dtype) {
  for (const Case& c : kBinary) {
    const Pairs<T> pairs(!c.divides);
    TestTensors inputs{{"X", tensor(dtype, pairs.x)}, {"Y", tensor(dtype, pairs.y)}};
    TestTensors outputs{{"Out", tensor(dtype, std::vector<T>(pairs.x.size()))}};
    INFO(c.formula << " of " << NameOf(dtype));
    REQUIRE(runFormula(c.formula, inputs, outputs) == "");
    const std::vector<T> out = outputs["Out"].values<T>();
    for (size_t i = 0; i < out.size(); ++i) {
      INFO(static_cast<int64_t>(pairs.x[i]) << ", " << static_cast<int64_t>(pairs.y[i]));
      REQUIRE(static_cast<int64_t>(out[i]) ==
              static_cast<int64_t>(static_cast<T>(c.exact(pairs.x[i], pairs.y[i]))));
    }
  }
}

template <typename T>
void checkZeroDivisor(DType dtype) {
  std::vector<T> x(100, T(5)), y(100, T(1));
  y[61] = y[97] = 0;
  for (const Case& c : kBinary) {
    if (!c.divides) continue;
    INFO(c.formula << " of " << NameOf(dtype));
    TestTensors outputs{{"Out", tensor(dtype, x)}};
    // In one piece, and in pieces that find the second zero first or alone.
    for (int64_t cut : {100, 30})
      CHECK(runFormula(c.formula, {{"X", tensor(dtype, x)}, {"Y", tensor(dtype, y)}}, outputs, {},
                       {}, {}, cut) == "element 61");
  }
}

// As x86 converts, in the 32 or 64 bits that are computed with.
template <typename T, typename From>
T converted(From value) {
  using Wide = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
  const bool fits = value >= static_cast<From>(std::numeric_limits<Wide>::min()) &&
                    value < -static_cast<From>(std::numeric_limits<Wide>::min());
  return static_cast<T>(fits ? static_cast<Wide>(value) : std::numeric_limits<Wide>::min());
}

template <typename T, typename From>
void checkCast(DType dtype, DType from) {
  using Limits = std::numeric_limits<From>;
  const std::vector<From> values = {0,
                                    From(-0.5),
                                    From(1.75),
                                    From(-1.75),
                                    Limits::quiet_NaN(),
                                    Limits::infinity(),
                                    -Limits::infinity(),
                                    Limits::max(),
                                    Limits::lowest(),
                                    Limits::denorm_min(),
                                    From(127.9),
                                    From(2147483648.0),
                                    From(-2147483648.0),
                                    From(-2147483904.0),
                                    From(9223372036854775808.0),
                                    From(-9223372036854775808.0)};
  TestTensors outputs{{"Out", tensor(dtype, std::vector<T>(values.size()))}};
  REQUIRE(runFormula("Out = X", {{"X", tensor(from, values)}}, outputs) == "");
  const std::vector<T> out = outputs["Out"].values<T>();
  for (size_t i = 0; i < out.size(); ++i) {
    INFO(NameOf(from) << " " << values[i] << " to " << NameOf(dtype));
    CHECK(static_cast<int64_t>(out[i]) == static_cast<int64_t>(converted<T>(values[i])));
  }
}

template <typename T>
void checkType(DType dtype) {
  checkBinary<T>(dtype);
  checkZeroDivisor<T>(dtype);
  checkCast<T, float>(dtype, DType::kFloat32);
  checkCast<T, double>(dtype, DType::kFloat64);
}

template <typename T>
std::vector<T> evaluate(const std::string& formula, DType dtype, const std::vector<T>& x,
                        const std::map<std::string, double>& attributes = {}) {
  TestTensors outputs{{"Out", tensor(dtype, std::vector<T>(x.size()))}};
  REQUIRE(runFormula(formula, {{"X", tensor(dtype, x)}}, outputs, attributes) == "");
  return outputs["Out"].values<T>();
}

}  // namespace

TEST_CASE("integer arithmetic at the edges of int8") { checkType<int8_t>(DType::kInt8); }
TEST_CASE("integer arithmetic at the edges of uint8") { checkType<uint8_t>(DType::kUInt8); }
TEST_CASE("integer arithmetic at the edges of int16") { checkType<int16_t>(DType::kInt16); }
TEST_CASE("integer arithmetic at the edges of int32") { checkType<int32_t>(DType::kInt32); }
TEST_CASE("integer arithmetic at the edges of int64") { checkType<int64_t>(DType::kInt64); }

TEST_CASE("powers of integers are those of float64, cut to whole numbers") {
  CHECK(evaluate<int32_t>("Out = pow(X, X - X + 9)", DType::kInt32, {7, -7, 0, 1, 10}) ==
        std::vector<int32_t>{40353607, -40353607, 0, 1, 1000000000});
  CHECK(evaluate<int64_t>("Out = pow(X, 3)", DType::kInt64, {200001, -200001}) ==
        std::vector<int64_t>{8000120000600001, -8000120000600001});
  // 2^-1, 0^-1 (infinite), 3^40 (too large for both).
  CHECK(evaluate<int32_t>("Out = pow(X, X - X - 1)", DType::kInt32, {2, 0}) ==
        std::vector<int32_t>{0, INT32_MIN});
  CHECK(evaluate<int32_t>("Out = pow(X, 40)", DType::kInt32, {3}) ==
        std::vector<int32_t>{INT32_MIN});
}

TEST_CASE("numbers that an integer type does not have become its nearest one") {
  const double infinity = std::numeric_limits<double>::infinity();
  for (double most : {infinity, 1e30}) {
    CHECK(evaluate<int32_t>("Out = min(max(X, low), high)", DType::kInt32,
                            {5, INT32_MIN, INT32_MAX}, {{"low", -most}, {"high", most}}) ==
          std::vector<int32_t>{5, INT32_MIN, INT32_MAX});
    CHECK(evaluate<int64_t>("Out = min(max(X, low), high)", DType::kInt64,
                            {5, INT64_MIN, INT64_MAX}, {{"low", -most}, {"high", most}}) ==
          std::vector<int64_t>{5, INT64_MIN, INT64_MAX});
  }
}

TEST_CASE("reductions of integers: extremes of all types, sums in 64 bits") {
  TestTensors outputs{{"Most", tensor(DType::kInt64, std::vector<int64_t>(1))},
                      {"Least", tensor(DType::kInt64, std::vector<int64_t>(1))}};
  const std::vector<int64_t> x = {INT64_MAX, INT64_MAX};
  REQUIRE(runFormula("Most[r] = max(X); Least[r] = min(X)", {{"X", tensor(DType::kInt64, x)}},
                     outputs, {}, {true}) == "");
  CHECK(outputs["Most"].values<int64_t>()[0] == INT64_MAX);
  CHECK(outputs["Least"].values<int64_t>()[0] == INT64_MAX);
  TestTensors sums{{"Sum", tensor(DType::kInt64, std::vector<int64_t>(1))},
                   {"Mean", tensor(DType::kInt32, std::vector<int32_t>(1))}};
  REQUIRE(runFormula("Sum[r] = sum(X); Mean[r] = sum(X) / count",
                     {{"X", tensor(DType::kInt32, std::vector<int32_t>(5, INT32_MAX))}}, sums, {},
                     {true}) == "");
  CHECK(sums["Sum"].values<int64_t>()[0] == 5 * int64_t{INT32_MAX});
  CHECK(sums["Mean"].values<int32_t>()[0] == INT32_MAX);
}

}  // namespace dtranspile::lower
