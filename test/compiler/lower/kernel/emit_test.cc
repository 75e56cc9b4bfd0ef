// What decides about sharing compiled code: the canonical form.
#include "compiler/lower/kernel/emit.h"

#include <catch2/catch.hpp>

#include "compiler/lower/kernel/formula.h"

namespace dtranspile::lower {
namespace {

std::string textOf(const std::string& formula, std::vector<int64_t> x, std::vector<int64_t> y) {
  FormulaNames names;
  auto ref = [&](std::string_view name) -> std::optional<TensorRef> {
    if (name == "X") return TensorRef{0, DType::kFloat32, x};
    if (name == "Y") return TensorRef{1, DType::kFloat32, y};
    return std::nullopt;
  };
  names.input = ref;
  names.output = [&](std::string_view name) {
    return name == "Out" ? std::optional(TensorRef{2, DType::kFloat32, x}) : std::nullopt;
  };
  names.attribute = [](std::string_view) { return std::nullopt; };
  std::string error;
  auto kernels = buildFormula("test", formula, names, nullptr, error);
  REQUIRE(error == "");
  REQUIRE(kernels->size() == 1);
  return emitKernel(kernels->front().kernel);
}

}  // namespace

TEST_CASE("element-wise kernels have one text for all shapes") {
  CHECK(textOf("Out = X * Y", {8, 4}, {8, 4}) == textOf("Out = X * Y", {3, 1, 5, 7}, {3, 1, 5, 7}));
  CHECK(textOf("Out = X * Y", {8, 4}, {1}) == textOf("Out = X * Y", {100}, {1}));
}

TEST_CASE("the rows of a broadcast are dynamic, its columns are not") {
  CHECK(textOf("Out = X + Y", {8, 4}, {4}) == textOf("Out = X + Y", {2, 3, 4}, {1, 4}));
  CHECK(textOf("Out = X + Y", {8, 4}, {4}) != textOf("Out = X + Y", {8, 5}, {5}));
}

TEST_CASE("neutral constants vanish, equal expressions are one") {
  CHECK(textOf("Out = X * 1 + 0 + Y", {4}, {4}) == textOf("Out = X + Y", {4}, {4}));
  CHECK(textOf("a = exp(X); Out = a * a + Y", {4}, {4}) ==
        textOf("Out = exp(X) * exp(X) + Y", {4}, {4}));
}

}  // namespace dtranspile::lower
