// Blocks within blocks: the gradients that the programs of blocks/ compute against differences of
// the same functions in double precision. And lists that are fetched.
#include <cmath>
#include <cstring>
#include <functional>

#include "test/compiler/lower/run_program.h"

namespace dtranspile::lower {
namespace {

using Numbers = std::vector<double>;

std::string readText(const std::string& name) {
  std::ifstream file("test/compiler/lower/blocks/" + name + ".mlir");
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

double mean(const Numbers& y) {
  double sum = 0;
  for (double value : y) sum += value;
  return sum / static_cast<double>(y.size());
}

Numbers each(const Numbers& a, const Numbers& b, double (*f)(double, double)) {
  Numbers result;
  for (size_t i = 0; i < a.size(); ++i) result.push_back(f(a[i], b[i]));
  return result;
}

const Numbers kWeights = {0.7, -1.1, 0.4, 0.9, -0.3, 0.5};

double weighted(const Numbers& y) {
  double sum = 0;
  for (size_t i = 0; i < y.size(); ++i) sum += y[i] * kWeights[i];
  return sum;
}

Numbers scaled(Numbers x, double factor) {
  for (double& value : x) value *= factor;
  return x;
}

double whileInWhile(const Numbers& x) {
  Numbers y = scaled(x, 1.5);
  for (int i = 0; i < 3; ++i) {
    Numbers z = scaled(y, 0.9);
    for (int j = 0; j < 2; ++j) z = each(z, y, [](double a, double b) { return std::sin(a) * b; });
    y = each(y, z, [](double a, double b) { return a + b; });
  }
  return weighted(y);
}

double branchInWhile(const Numbers& x) {
  Numbers y = scaled(x, 1.5);
  for (int i = 0; i < 3; ++i) {
    const bool large = mean(y) > 0.3;
    y = scaled(large ? each(y, y, [](double a, double b) { return a * std::sin(b); })
                     : each(y, x, [](double a, double b) { return a * a - 0.5 * b; }),
               0.8);
  }
  return weighted(y);
}

double whileInBranch(const Numbers& x) {
  Numbers y = scaled(x, 1.5);
  if (mean(x) <= 0.1) return weighted(scaled(y, 2));
  for (int i = 0; i < 3; ++i) y = each(y, x, [](double a, double b) { return std::sin(a) * b; });
  return weighted(y);
}

void checkGradient(exec::Executor& executor, const Numbers& x,
                   const std::function<double(const Numbers&)>& loss) {
  constexpr double kStep = 1e-5, kTolerance = 2e-4;
  setVariable<float>(executor, "x", x);
  setVariable<float>(executor, "w", kWeights);
  const absl::Status status = executor.RunMain();
  INFO(status.message());
  REQUIRE(status.ok());
  CHECK(fetched<float>(executor, 0)[0] == Approx(loss(x)).epsilon(kTolerance));
  const std::vector<float> gradient = fetched<float>(executor, 1);
  REQUIRE(gradient.size() == x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    Numbers more = x, less = x;
    more[i] += kStep;
    less[i] -= kStep;
    INFO("element " << i);
    CHECK(gradient[i] ==
          Approx((loss(more) - loss(less)) / (2 * kStep)).epsilon(kTolerance).margin(1e-6));
  }
}

void checkProgram(const std::string& name, const std::vector<Numbers>& points,
                  const std::function<double(const Numbers&)>& loss) {
  Compiled c(readText(name));
  c.options.main.fetches = {"loss", "x@GRAD"};
  c.options.main.mendDefects = true;
  const bool compiled = c.compile();
  INFO(c.error);
  REQUIRE(compiled);
  auto executor = load(c);
  // Every step starts anew: what an earlier one left on the tape is gone.
  for (const Numbers& x : points) checkGradient(*executor, x, loss);
}

const Numbers kFirst = {0.9, 0.2, 0.6, -0.1, 0.5, 0.3}, kSecond = {-0.8, 0.3, -0.6, 0.2, -0.5, 0.1};

}  // namespace

TEST_CASE("the gradient of a loop within a loop") {
  checkProgram("while-in-while", {kFirst, kSecond}, whileInWhile);
}

TEST_CASE("the gradient of branches within a loop, taken in some turns") {
  checkProgram("branch-in-while", {kFirst, kSecond}, branchInWhile);
}

// Of the branch of the last turn the framework keeps what x gets directly, and of y nothing
// (docs/operators/defects.md).
TEST_CASE(
    "a branch within a loop loses the gradient of what the loop hands on, as in the framework") {
  Compiled c(readText("branch-in-while"));
  c.options.main.fetches = {"loss", "x@GRAD"};
  REQUIRE(c.compile());
  CHECK(c.error.find("the framework takes zeros for y@GRAD") != std::string::npos);
  auto executor = load(c);
  for (const auto& [x, large] : {std::pair(kFirst, false), std::pair(scaled(kFirst, 10), true)}) {
    Numbers y = scaled(x, 1.5);
    for (int i = 0; i < 2; ++i)
      y = scaled(mean(y) > 0.3 ? each(y, y, [](double a, double b) { return a * std::sin(b); })
                               : Numbers(),
                 0.8);
    REQUIRE((mean(y) > 0.3) == large);
    setVariable<float>(*executor, "x", x);
    setVariable<float>(*executor, "w", kWeights);
    REQUIRE(executor->RunMain().ok());
    const std::vector<float> gradient = fetched<float>(*executor, 1);
    for (size_t i = 0; i < x.size(); ++i)
      CHECK(gradient[i] == Approx(large ? 0 : -0.5 * 0.8 * kWeights[i]).margin(1e-7));
  }
}

TEST_CASE("the gradient of a loop within a branch, taken or not") {
  checkProgram("while-in-branch", {kFirst, kSecond, kFirst}, whileInBranch);
}

TEST_CASE("a list that is fetched shows its items and whose rows are whose") {
  Compiled c(R"mlir(
pd.var @x : tensor<2x3xf32>
pd.program @main attributes {version = 2006002 : i64} {
  %x = pd.get @x : tensor<2x3xf32>
  %row = pd.slice Input(%x) -> Out("row") {axes = array<i32: 0>, starts = array<i32: 0>, ends = array<i32: 1>} : (tensor<2x3xf32>) -> tensor<1x3xf32>
  %zero = pd.fill_constant -> Out("zero") {dtype = 3 : i32, shape = array<i64: 1>, value = 0.0 : f32} : () -> tensor<1xi64>
  %one = pd.fill_constant -> Out("one") {dtype = 3 : i32, shape = array<i64: 1>, value = 1.0 : f32} : () -> tensor<1xi64>
  %none = pd.undef "list" : !pd.array<tensor<?x3xf32>, 0>
  %first = pd.write_to_array X(%x) I(%zero) "$Out"(%none) -> Out("list") : (tensor<2x3xf32>, tensor<1xi64>, !pd.array<tensor<?x3xf32>, 0>) -> !pd.array<tensor<?x3xf32>, 0>
  %both = pd.write_to_array X(%row) I(%one) "$Out"(%first) -> Out("list") : (tensor<1x3xf32>, tensor<1xi64>, !pd.array<tensor<?x3xf32>, 0>) -> !pd.array<tensor<?x3xf32>, 0>
})mlir");
  c.options.main.fetches = {"list"};
  const bool compiled = c.compile();
  INFO(c.error);
  REQUIRE(compiled);
  auto executor = load(c);
  setVariable<float>(*executor, "x", kFirst);
  REQUIRE(executor->RunMain().ok());
  const exec::Value* value = executor->value(executor->plan().step().fetches[0].buffer);
  REQUIRE(value);
  CHECK(value->dims == std::vector<int64_t>{3, 3});
  CHECK(value->lod == Lod{{0, 2, 3}});
  CHECK(fetched<float>(*executor, 0) ==
        std::vector<float>{0.9f, 0.2f, 0.6f, -0.1f, 0.5f, 0.3f, 0.9f, 0.2f, 0.6f});
}

}  // namespace dtranspile::lower
