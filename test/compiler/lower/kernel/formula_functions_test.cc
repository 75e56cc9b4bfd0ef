#include "compiler/lower/kernel/formula_functions.h"

#include <catch2/catch.hpp>

#include "test/compiler/lower/kernel/run_formula.h"

namespace dtranspile::lower {
namespace {

using Floats = std::vector<float>;

std::string errorOf(std::string_view text) {
  std::string error;
  CHECK(parseFunctions(text, error).empty());
  return error;
}

// What a formula gives for X and Y of some numbers, or its error.
std::pair<std::string, Floats> run(const std::string& formula) {
  TestTensors inputs{{"X", TestTensor::of(DType::kFloat32, {4}, Floats{-2, 0, 0.5F, 3})},
                     {"Y", TestTensor::of(DType::kFloat32, {4}, Floats{1, 2, -1, 0.25F})}},
      outputs{{"Out", TestTensor::of(DType::kFloat32, {4}, Floats(4))}};
  const std::string error = runFormula(formula, inputs, outputs);
  return {error, outputs["Out"].values<float>()};
}

}  // namespace

TEST_CASE("a call stands for the body, its parameters for the arguments") {
  const std::pair<const char*, const char*> equal[] = {
      {"square(X + Y)", "(X + Y) * (X + Y)"},
      {"sigmoid(-X)", "1 / (1 + exp(X))"},
      {"finite(X / Y) ? X : Y", "X / Y - X / Y == 0 ? X : Y"},
      {"moment(X, Y, 0.9)", "0.9 * X + (1 - 0.9) * Y"},
      {"square_moment(X, Y, 0.9)", "0.9 * X + (1 - 0.9) * Y * Y"},
      {"gelu_argument(square(X))",
       "0.79788456080286536 * (X * X + 0.044715 * (X * X) * (X * X) * "
       "(X * X))"},
      {"momentum_step(X, Y, 0.1, 0.9, 1)", "0.1 * (X + 0.9 * Y)"},
      {"sum(square(X))", "sum(X * X)"},
      {"or(Z, square(X))", "X * X"},
  };
  for (const auto& [call, text] : equal) {
    INFO(call);
    const auto [error, values] = run(std::string("Out = ") + call);
    CHECK(error == "");
    CHECK(values == run(std::string("Out = ") + text).second);
  }
}

TEST_CASE("wrong calls are refused by name") {
  CHECK_THAT(run("Out = moment(X, Y)").first, Catch::Contains("moment takes 3 arguments, not 2"));
  CHECK_THAT(run("Out = square()").first, Catch::Contains("square takes 1 arguments, not 0"));
  CHECK_THAT(run("Out = cube(X)").first, Catch::Contains("no function cube with 1 arguments"));
  CHECK_THAT(run("Out = cube()").first, Catch::Contains("no function cube with 0 arguments"));
}

TEST_CASE("definitions: names, parameters, bodies over several lines") {
  std::string error;
  const auto functions = parseFunctions(
      "# twice\ntwice(x) = 2 * x\n\nzero() = 0\nmean(a, b) =\n"
      "    (a + b)\n    / 2\n",
      error);
  CHECK(error == "");
  REQUIRE(functions.size() == 3);
  CHECK(functions[0].name == "twice");
  CHECK(functions[1].parameters.empty());
  CHECK(functions[2].parameters == std::vector<std::string_view>{"a", "b"});
  CHECK(functions[2].body == "(a + b)\n    / 2");
  CHECK_THAT(errorOf("f(x) = x\nf(y) = y"), Catch::Contains("'f(y) = y': is defined twice"));
  for (const char* wrong :
       {"f = 1", "f(x)", "f(x) =", "(x) = x", "f(2) = 2", "f(x) y = x", "f)x( = x"})
    CHECK_THAT(errorOf(wrong), Catch::Contains("expected NAME(PARAMETER, …) = EXPRESSION"));
}

TEST_CASE("every function can be called, and reads its parameters only") {
  REQUIRE(formulaFunctions().size() > 10);
  for (const FormulaFunction& function : formulaFunctions()) {
    INFO(function.name);
    std::string call(function.name);
    for (size_t i = 0; i < function.parameters.size(); ++i) call += i == 0 ? "(X" : ", Y";
    CHECK(run("Out = X + " + call + (function.parameters.empty() ? "()" : ")")).first == "");
  }
}

}  // namespace dtranspile::lower
