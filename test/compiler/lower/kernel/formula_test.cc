// Compiled formulas against plain loops.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>

#include "test/compiler/lower/kernel/run_formula.h"

namespace dtranspile::lower {
namespace {

using Floats = std::vector<float>;
constexpr DType F = DType::kFloat32;

int64_t count(const std::vector<int64_t>& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

Floats noise(const std::vector<int64_t>& dims, unsigned seed) {
  std::minstd_rand engine(seed);
  std::uniform_real_distribution<float> uniform(-2, 2);
  Floats values(count(dims));
  for (float& v : values) v = uniform(engine);
  return values;
}

TestTensor random(const std::vector<int64_t>& dims, unsigned seed) {
  return TestTensor::of(F, dims, noise(dims, seed));
}
TestTensor empty(const std::vector<int64_t>& dims, DType dtype = F) {
  TestTensor t{dtype, dims, {}};
  t.bytes.resize(count(dims) * SizeOf(dtype));
  return t;
}

void requireClose(const Floats& got, const Floats& want, double relative = 2e-6,
                  double absolute = 1e-6) {
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    INFO("element " << i);
    REQUIRE(std::fabs(got[i] - want[i]) <= absolute + relative * std::fabs(want[i]));
  }
}

}  // namespace

TEST_CASE("relu keeps NaN and its gradient is 0 at 0") {
  Floats x = {-1, 0, 2, std::numeric_limits<float>::quiet_NaN(), -0.5f};
  TestTensors outputs{{"Out", empty({5})}, {"G", empty({5})}};
  REQUIRE(runFormula("Out = max(X, 0); G = X > 0 ? 1 : 0", {{"X", TestTensor::of(F, {5}, x)}},
                     outputs) == "");
  Floats out = outputs["Out"].values<float>();
  CHECK(out[0] == 0);
  CHECK(out[2] == 2);
  CHECK(std::isnan(out[3]));
  CHECK(outputs["G"].values<float>() == Floats{0, 0, 1, 0, 0});
}

TEST_CASE("bias over a channel, at an axis") {
  const std::vector<int64_t> dims = {3, 5, 2, 4};
  TestTensor y = random({5}, 2);
  y.axis = 1;
  TestTensors inputs{{"X", random(dims, 1)}, {"Y", y}}, outputs{{"Out", empty(dims)}};
  REQUIRE(runFormula("Out = X + Y", inputs, outputs) == "");
  Floats want = noise(dims, 1), bias = noise({5}, 2);
  for (size_t i = 0; i < want.size(); ++i) want[i] += bias[i / 8 % 5];
  CHECK(outputs["Out"].values<float>() == want);
}

TEST_CASE("gradient of a broadcast is summed, whatever dims it lacks") {
  const std::vector<int64_t> dims =
      GENERATE(std::vector<int64_t>{7, 5, 2, 4}, std::vector<int64_t>{33, 5, 1, 1},
               std::vector<int64_t>{1, 5, 3, 1}, std::vector<int64_t>{4, 1500, 2, 1});
  TestTensor dy = empty({dims[1]});
  dy.axis = 1;
  TestTensors inputs{{"G", random(dims, 1)}, {"X", random(dims, 3)}},
      outputs{{"Y@GRAD", dy}, {"Z@GRAD", empty({1})}};
  REQUIRE(runFormula("Y@GRAD = G * X; Z@GRAD = G", inputs, outputs) == "");
  Floats g = noise(dims, 1), x = noise(dims, 3), want(dims[1]);
  std::vector<double> sums(dims[1]);
  double all = 0;
  for (size_t i = 0; i < g.size(); ++i) {
    sums[i / (dims[2] * dims[3]) % dims[1]] += double(g[i]) * x[i];
    all += g[i];
  }
  for (size_t i = 0; i < want.size(); ++i) want[i] = static_cast<float>(sums[i]);
  requireClose(outputs["Y@GRAD"].values<float>(), want, 1e-5, 1e-5);
  requireClose(outputs["Z@GRAD"].values<float>(), {static_cast<float>(all)}, 1e-4, 1e-4);
}

TEST_CASE("softmax, over the last dim and over others") {
  const std::vector<int64_t> dims = {6, 5, 37};
  const int axis = GENERATE(0, 1, 2);
  std::vector<bool> inner(3, false);
  inner[axis] = true;
  TestTensors inputs{{"X", random(dims, 4)}}, outputs{{"Out", empty(dims)}};
  REQUIRE(runFormula("m = max(X); Out = exp(X - m); Out = Out / sum(Out)", inputs, outputs, {},
                     inner) == "");
  Floats x = noise(dims, 4), want(x.size());
  int64_t step = axis == 2 ? 1 : axis == 1 ? 37 : 185, extent = dims[axis];
  for (size_t i = 0; i < x.size(); ++i) {
    int64_t base = i - i / step % extent * step;
    double sum = 0;
    for (int64_t k = 0; k < extent; ++k) sum += std::exp(double(x[base + k * step]));
    want[i] = static_cast<float>(std::exp(double(x[i])) / sum);
  }
  requireClose(outputs["Out"].values<float>(), want, 1e-5, 1e-7);
}

TEST_CASE("layer_norm with and without scale, cut anywhere") {
  const std::vector<int64_t> dims = {9, 4, 19};
  const bool scaled = GENERATE(true, false);
  const int64_t cut = GENERATE(1, 4, 1 << 30);
  TestTensors inputs{{"X", random(dims, 5)}},
      outputs{{"Y", empty(dims)}, {"Mean", empty({9})}, {"Variance", empty({9})}};
  if (scaled) inputs["Scale"] = random({76}, 6);
  REQUIRE(
      runFormula("m = sum(X) / count; v = sum(square(X - m)) / count; Mean[r] = m; Variance[r] = v;"
                 "Y = (X - m) * rsqrt(v + epsilon) * or(Scale[i], 1) + or(Bias[i], 0)",
                 inputs, outputs, {{"epsilon", 1e-5}}, {false, true, true}, {}, cut) == "");
  Floats x = noise(dims, 5), scale = noise({76}, 6), want(x.size()), means(9);
  for (int r = 0; r < 9; ++r) {
    double m = 0, v = 0;
    for (int c = 0; c < 76; ++c) m += x[r * 76 + c] / 76.0;
    for (int c = 0; c < 76; ++c) v += (x[r * 76 + c] - m) * (x[r * 76 + c] - m) / 76;
    means[r] = static_cast<float>(m);
    for (int c = 0; c < 76; ++c)
      want[r * 76 + c] =
          static_cast<float>((x[r * 76 + c] - m) / std::sqrt(v + 1e-5) * (scaled ? scale[c] : 1));
  }
  requireClose(outputs["Y"].values<float>(), want, 1e-5, 2e-6);
  requireClose(outputs["Mean"].values<float>(), means);
}

TEST_CASE("adam updates in place") {
  const std::vector<int64_t> dims = {13, 11};
  TestTensors inputs{{"P", random(dims, 7)},
                     {"G", random(dims, 8)},
                     {"M", random(dims, 9)},
                     {"V", empty(dims)},
                     {"LR", TestTensor::of(F, {1}, Floats{0.1f})}};
  TestTensors outputs{{"PO", empty(dims)}, {"MO", empty(dims)}, {"VO", empty(dims)}};
  REQUIRE(runFormula("MO = beta1 * M + (1 - beta1) * G; VO = beta2 * V + (1 - beta2) * square(G); "
                     "PO = P - LR * MO / (sqrt(VO) + epsilon)",
                     inputs, outputs, {{"beta1", 0.9}, {"beta2", 0.99}, {"epsilon", 1e-8}}, {},
                     {{"PO", "P"}, {"MO", "M"}, {"VO", "V"}}) == "");
  Floats p = noise(dims, 7), g = noise(dims, 8), m = noise(dims, 9), v(p.size());
  for (size_t i = 0; i < p.size(); ++i) {
    m[i] = 0.9f * m[i] + 0.1f * g[i];
    v[i] = 0.01f * g[i] * g[i];
    p[i] -= 0.1f * m[i] / (std::sqrt(v[i]) + 1e-8f);
  }
  requireClose(outputs["PO"].values<float>(), p, 1e-5, 1e-6);
  requireClose(outputs["MO"].values<float>(), m);
  requireClose(outputs["VO"].values<float>(), v);
}

TEST_CASE("cross entropy takes the labelled element without indexing memory") {
  TestTensors inputs{
      {"X", random({4, 7}, 10)},
      {"Label", TestTensor::of(DType::kInt64, {4, 1}, std::vector<int64_t>{2, 6, -100, 0})}};
  TestTensors outputs{{"Loss", empty({4, 1})}};
  REQUIRE(runFormula("m = max(X); s = sum(exp(X - m)); z = sum(position == Label[r] ? X : 0);"
                     "Loss[r] = Label[r] == ignore_index ? 0 : log(s) + m - z",
                     inputs, outputs, {{"ignore_index", -100}}, {false, true}) == "");
  Floats x = noise({4, 7}, 10), loss = outputs["Loss"].values<float>();
  double sum = 0;
  for (int c = 0; c < 7; ++c) sum += std::exp(double(x[c]));
  CHECK(loss[0] == Approx(std::log(sum) - x[2]));
  CHECK(loss[2] == 0);
  TestTensors hot{{"Out", empty({4, 7})}};
  REQUIRE(runFormula("Out = position == Label[r] ? 1 : 0 * X", inputs, hot, {}, {false, true}) ==
          "");
  Floats places = hot["Out"].values<float>();
  CHECK(places[2] == 1);
  CHECK(places[7 + 6] == 1);
  CHECK(places[21] == 1);
  CHECK(std::count(places.begin(), places.end(), 1.0f) == 3);
}

TEST_CASE("integers, bools and casts") {
  using Longs = std::vector<int64_t>;
  TestTensors inputs{{"A", TestTensor::of(DType::kInt64, {4}, Longs{5, -7, 1ll << 40, 0})},
                     {"B", TestTensor::of(DType::kInt32, {1}, std::vector<int32_t>{3})}};
  TestTensors outputs{{"Sum", empty({4}, DType::kInt64)},
                      {"Less", empty({4}, DType::kBool)},
                      {"Half", empty({4}, DType::kFloat64)},
                      {"Floor", empty({4}, DType::kInt64)}};
  REQUIRE(
      runFormula(
          "Sum = A + B; Less = A < B && !(A == 0); Half = double(A) / 2; Floor = floordiv(A, B)",
          inputs, outputs) == "");
  CHECK(outputs["Sum"].values<int64_t>() == Longs{8, -4, (1ll << 40) + 3, 3});
  CHECK(outputs["Less"].values<uint8_t>() == std::vector<uint8_t>{0, 1, 0, 0});
  CHECK(outputs["Half"].values<double>() == std::vector<double>{2.5, -3.5, double(1ll << 39), 0});
  CHECK(outputs["Floor"].values<int64_t>() == Longs{1, -3, (1ll << 40) / 3, 0});
}

TEST_CASE("functions against the C library") {
  Floats x = noise({1000}, 11);
  TestTensors inputs{{"X", TestTensor::of(F, {1000}, x)}};
  struct Case {
    const char* formula;
    double (*function)(double);
  };
  const Case c =
      GENERATE(Case{"exp(X)", [](double v) { return std::exp(v); }},
               Case{"tanh(X)", [](double v) { return std::tanh(v); }},
               Case{"erf(X)", [](double v) { return std::erf(v); }},
               Case{"log(abs(X))", [](double v) { return std::log(std::fabs(v)); }},
               Case{"sin(X)", [](double v) { return std::sin(v); }},
               Case{"floor(X)", [](double v) { return std::floor(v); }},
               Case{"round(X)", [](double v) { return std::round(v); }},
               Case{"expm1(X)", [](double v) { return std::expm1(v); }},
               Case{"log1p(abs(X))", [](double v) { return std::log1p(std::fabs(v)); }},
               Case{"atan(X)", [](double v) { return std::atan(v); }},
               Case{"sigmoid(X)", [](double v) { return 1 / (1 + std::exp(-v)); }},
               Case{"pow(abs(X), 1.5)", [](double v) { return std::pow(std::fabs(v), 1.5); }});
  TestTensors outputs{{"Out", empty({1000})}, {"Wide", empty({1000}, DType::kFloat64)}};
  INFO(c.formula);
  REQUIRE(runFormula(std::string("Out = ") + c.formula, inputs, outputs) == "");
  Floats want(1000);
  for (int i = 0; i < 1000; ++i) want[i] = static_cast<float>(c.function(x[i]));
  requireClose(outputs["Out"].values<float>(), want, 2e-6, 2e-7);
  std::string wide(c.formula);
  wide.replace(wide.find('X'), 1, "double(X)");
  REQUIRE(runFormula("Wide = " + wide, inputs, outputs) == "");
  std::vector<double> got = outputs["Wide"].values<double>();
  for (int i = 0; i < 1000; ++i) REQUIRE(got[i] == Approx(c.function(x[i])).epsilon(1e-12));
}

TEST_CASE("errors name what is wrong") {
  TestTensors inputs{{"X", random({3, 4}, 1)}, {"Y", random({5}, 2)}},
      outputs{{"Out", empty({3, 4})}};
  auto run = [&](const std::string& formula) { return runFormula(formula, inputs, outputs); };
  CHECK_THAT(run("Out = X + Y"), Catch::Contains("Y of shape [5] does not fit [3x4]"));
  CHECK_THAT(run("Out = X + alpha"),
             Catch::Contains("alpha, which is neither an argument nor an attribute"));
  CHECK_THAT(run("Out = X +"), Catch::Contains("expected a value"));
  CHECK_THAT(run("Out = foo(X)"), Catch::Contains("no function foo with 1 arguments"));
  CHECK_THAT(run("Out = (X"), Catch::Contains("expected ')'"));
  CHECK_THAT(run("Out = X )"), Catch::Contains("unexpected text at ')'"));
  CHECK_THAT(run("Out = X[k]"), Catch::Contains("a span is [r] or [i]"));
  TestTensors rows{{"S", empty({3})}};
  CHECK_THAT(runFormula("S[r] = X", inputs, rows, {}, {false, true}),
             Catch::Contains("S[r] needs one value per row"));
}

}  // namespace dtranspile::lower
