// Sums of many values, in the kernels of formulas: their error against float64 for lengths up to
// 10^7, along rows, over rows (lanes), over several dims, and their bits however rows are cut.
#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "test/compiler/lower/kernel/run_formula.h"

namespace dtranspile::lower {
namespace {

constexpr DType F = DType::kFloat32;

int64_t product(const std::vector<int64_t>& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

enum class Kind { kOnes, kUniform, kTenths, kSigned };

std::vector<float> fill(int64_t count, Kind kind) {
  std::minstd_rand engine(static_cast<unsigned>(count) + 1);
  std::uniform_real_distribution<float> uniform(0, 1);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values)
    v = kind == Kind::kOnes     ? 1.0f
        : kind == Kind::kTenths ? 0.1f
        : kind == Kind::kSigned ? 2 * uniform(engine) - 1
                                : uniform(engine);
  return values;
}

struct Shape {
  std::vector<int64_t> dims;
  std::vector<bool> inner;
};

// The sum of every row, in long double, and the sum of the magnitudes.
struct Exact {
  std::vector<long double> sum, magnitude;
};
Exact exactSums(const Shape& shape, const std::vector<float>& x) {
  int64_t rows = 1;
  for (size_t d = 0; d < shape.dims.size(); ++d) rows *= shape.inner[d] ? 1 : shape.dims[d];
  Exact exact{std::vector<long double>(static_cast<size_t>(rows)),
              std::vector<long double>(static_cast<size_t>(rows))};
  for (size_t i = 0; i < x.size(); ++i) {
    int64_t rest = static_cast<int64_t>(i), row = 0, step = 1;
    for (size_t d = shape.dims.size(); d-- > 0; rest /= shape.dims[d]) {
      if (shape.inner[d]) continue;
      row += rest % shape.dims[d] * step;
      step *= shape.dims[d];
    }
    exact.sum[static_cast<size_t>(row)] += x[i];
    exact.magnitude[static_cast<size_t>(row)] += std::fabs(x[i]);
  }
  return exact;
}

// What blocks of at most 256 additions one after the other may lose; the totals lose nothing that
// float32 shows. Twice that for the square, whose terms are rounded as well.
constexpr double kBound = 256 * 0x1p-24;

void checkShape(const Shape& shape, Kind kind) {
  const std::vector<float> x = fill(product(shape.dims), kind);
  const Exact exact = exactSums(shape, x);
  const auto rows = static_cast<int64_t>(exact.sum.size());
  const long double count = static_cast<long double>(x.size()) / static_cast<long double>(rows);
  auto result = [&] { return TestTensor::of(F, {rows}, std::vector<float>(exact.sum.size())); };
  TestTensors outputs{{"Sum", result()}, {"Mean", result()}, {"Square", result()}};
  REQUIRE(runFormula("s = sum(X); Sum[r] = s; Mean[r] = s / count; Square[r] = sum(X * X + 1)",
                     {{"X", TestTensor::of(F, shape.dims, x)}}, outputs, {}, shape.inner) == "");
  const auto sum = outputs["Sum"].values<float>(), mean = outputs["Mean"].values<float>(),
             square = outputs["Square"].values<float>();
  for (size_t r = 0; r < exact.sum.size(); ++r) {
    INFO("row " << r << " of " << x.size() << " values, kind " << static_cast<int>(kind));
    REQUIRE(std::fabs(sum[r] - exact.sum[r]) <= kBound * exact.magnitude[r]);
    REQUIRE(std::fabs(mean[r] - exact.sum[r] / count) <= kBound * exact.magnitude[r] / count);
    if (kind == Kind::kOnes) REQUIRE(square[r] == static_cast<float>(2 * count));
  }
}

// The same bits however the rows are cut among threads.
void checkCuts(const Shape& shape) {
  const std::vector<float> x = fill(product(shape.dims), Kind::kSigned);
  const auto rows = static_cast<int64_t>(exactSums(shape, x).sum.size());
  std::vector<std::vector<float>> results;
  for (int64_t cut : {int64_t{1} << 30, int64_t{1}, int64_t{3}}) {
    TestTensors outputs{
        {"Sum", TestTensor::of(F, {rows}, std::vector<float>(static_cast<size_t>(rows)))}};
    REQUIRE(runFormula("Sum[r] = sum(X)", {{"X", TestTensor::of(F, shape.dims, x)}}, outputs, {},
                       shape.inner, {}, cut) == "");
    results.push_back(outputs["Sum"].values<float>());
  }
  CHECK(results[0] == results[1]);
  CHECK(results[0] == results[2]);
}

const Kind kKinds[] = {Kind::kOnes, Kind::kUniform, Kind::kTenths, Kind::kSigned};

}  // namespace

TEST_CASE("sums along a row of 1 to 10^7 values") {
  for (int64_t n : {1, 2, 7, 63, 64, 1000, 2047, 2048, 2049, 4096, 5000, 100000, 1048577, 10000000})
    for (Kind kind : kKinds) checkShape({{n}, {true}}, kind);
}

TEST_CASE("sums over rows: a lane with an accumulator for each column") {
  for (int64_t n : {1, 2, 255, 256, 257, 513, 10000, 300000})
    for (Kind kind : kKinds) checkShape({{n, 5}, {true, false}}, kind);
  checkShape({{1000, 1024}, {true, false}}, Kind::kTenths);  // lanes in blocks
}

TEST_CASE("sums over several dims, with kept ones between them") {
  for (Kind kind : kKinds) {
    checkShape({{600, 3, 50}, {true, false, true}}, kind);
    checkShape({{5, 70, 3, 90, 4}, {false, true, false, true, false}}, kind);
    checkShape({{2, 9000, 1, 3}, {false, true, true, true}}, kind);
    checkShape({{1500, 4, 1500}, {true, false, true}}, kind);
  }
}

TEST_CASE("a sum has the same bits for all cuts of its rows") {
  checkCuts({{40, 5000}, {false, true}});
  checkCuts({{9, 700, 16}, {false, true, false}});
}

TEST_CASE("the denominator of a long softmax") {
  const int64_t n = 3000000;
  const std::vector<float> x = fill(n, Kind::kUniform);
  TestTensors outputs{{"Out", TestTensor::of(F, {1, n}, std::vector<float>(x.size()))}};
  REQUIRE(runFormula("m = max(X); Out = exp(X - m); Out = Out / sum(Out)",
                     {{"X", TestTensor::of(F, {1, n}, x)}}, outputs, {}, {false, true}) == "");
  long double total = 0;
  for (float p : outputs["Out"].values<float>()) total += p;
  CHECK(std::fabs(total - 1) <= kBound);
}

TEST_CASE("products over blocks") {
  // Whatever lanes a block has, none of their products overflows.
  std::vector<float> x(10240);
  for (size_t i = 0; i < x.size(); ++i) x[i] = i / 128 % 2 == 0 ? 2.0f : 0.5f;
  x[10239] = 1.5f;
  TestTensors outputs{{"Out", TestTensor::of(F, {1}, std::vector<float>(1))}};
  REQUIRE(runFormula("Out[r] = prod(X)", {{"X", TestTensor::of(F, {10240}, x)}}, outputs, {},
                     {true}) == "");
  CHECK(outputs["Out"].values<float>()[0] == 3.0f);
}

TEST_CASE("float64 sums go in blocks too") {
  std::vector<double> x(3000000, 0.1);
  TestTensors outputs{{"Out", TestTensor::of(DType::kFloat64, {1}, std::vector<double>(1))}};
  REQUIRE(runFormula("Out[r] = sum(X)", {{"X", TestTensor::of(DType::kFloat64, {3000000}, x)}},
                     outputs, {}, {true}) == "");
  CHECK(std::fabs(outputs["Out"].values<double>()[0] - 3e6 * 0.1) <= 2048 * 0x1p-53 * 3e5);
}

}  // namespace dtranspile::lower
