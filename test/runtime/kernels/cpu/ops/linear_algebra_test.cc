// Kernels of the family `linear_algebra`: gradients against differences where the corpus has no
// such case, and what is refused.
#include <catch2/catch.hpp>

#include "test/runtime/kernels/cpu/ops/bag.h"

namespace dtranspile::kernels {
namespace {

using Catch::Contains;

double MatmulError(const std::vector<int64_t>& x, const std::vector<int64_t>& y, bool trans_x,
                   bool trans_y) {
  Bag bag;
  bag.PutNoise("X", x);
  bag.PutNoise("Y", y);
  Attributes attributes;
  attributes.Int(trans_x).Int(trans_y).Real(0.5);
  return GradientError(
      bag, "Out", {"X", "Y"}, [&] { return bag.Run("dt_matmul", {"X", "Y"}, {"Out"}, attributes); },
      [&] {
        return bag.Run("dt_matmul_grad", {"X", "Y", "Out@GRAD"}, {"X@GRAD", "Y@GRAD"}, attributes);
      });
}

TEST_CASE("products whose batches broadcast have the gradients of sums") {
  CHECK(MatmulError({2, 1, 3, 4}, {3, 4, 2}, false, false) < 1e-8);
  CHECK(MatmulError({3, 1, 4, 3}, {1, 2, 4, 2}, true, false) < 1e-8);
  CHECK(MatmulError({3, 4}, {2, 5, 4}, false, true) < 1e-8);
  CHECK(MatmulError({2, 4, 3}, {5, 4}, true, true) < 1e-8);
  CHECK(MatmulError({4}, {2, 4, 3}, false, false) < 1e-8);
  CHECK(MatmulError({2, 3, 4}, {4}, false, false) < 1e-8);
}

double EinsumError(const char* equation, const std::vector<std::vector<int64_t>>& operands) {
  Bag bag;
  std::vector<std::string> names;
  std::string inputs, caches, gradients;
  for (size_t i = 0; i < operands.size(); ++i) {
    names.push_back("x" + std::to_string(i));
    bag.PutNoise(names.back(), operands[i]);
    const std::string comma = i == 0 ? "" : ", ";
    inputs += comma + names.back(), caches += comma + "c" + names.back(),
        gradients += comma + names.back() + "@GRAD";
  }
  Attributes attributes;
  attributes.Text(equation);
  return GradientError(
      bag, "Out", names,
      [&] { return bag.Run("dt_einsum", {inputs}, {"Out", caches}, attributes); },
      [&] { return bag.Run("dt_einsum_grad", {caches, "Out@GRAD"}, {gradients}, attributes); });
}

TEST_CASE("einsum joins any number of operands, with ellipses, sums and implicit results") {
  CHECK(EinsumError("ij,jk,kl->il", {{2, 3}, {3, 4}, {4, 2}}) < 1e-8);
  CHECK(EinsumError("...ij,...jk->...ik", {{2, 1, 3, 4}, {3, 4, 2}}) < 1e-8);
  CHECK(EinsumError("ij,kj", {{2, 3}, {4, 3}}) < 1e-8);
  CHECK(EinsumError("ij,k->k", {{2, 3}, {4}}) < 1e-8);
  CHECK(EinsumError("ijk->kj", {{2, 3, 4}}) < 1e-8);
}

TEST_CASE("what cannot be multiplied is refused by name") {
  Bag bag;
  bag.PutNoise("X", {2, 3, 4});
  bag.PutNoise("Y", {3, 4, 5});
  bag.PutNoise("Z", {2, 3, 5});
  CHECK_THAT(bag.Message("dt_matmul", {"X", "Y"}, {"Out"}, Attributes().Int(0).Int(0)),
             Contains("'X' and 'Y'"));
  CHECK_THAT(bag.Message("dt_matmul", {"X", "Z"}, {"Out"}, Attributes().Int(0).Int(0)),
             Contains("'X' and 'Z'"));
  CHECK_THAT(bag.Message("dt_mul", {"X", "Y"}, {"Out"}, Attributes().Int(1).Int(7)),
             Contains("'Y' at 7"));
  CHECK_THAT(bag.Message("dt_einsum", {"X, Y"}, {"Out", ""}, Attributes().Text("ij,jk->ik")),
             Contains("operand 'X' of rank 3"));
  CHECK_THAT(bag.Message("dt_einsum", {"X, Y"}, {"Out", ""}, Attributes().Text("ijk,ikl->jl")),
             Contains("'Y' has extent 3"));
  CHECK_THAT(bag.Message("dt_einsum", {"X"}, {"Out", ""}, Attributes().Text("ijk->m")),
             Contains("label m"));
  CHECK_THAT(bag.Message("dt_cross", {"X", "X"}, {"Out"}, Attributes().Int(0)),
             Contains("extent 2, not 3"));
  CHECK_THAT(bag.Message("dt_trace", {"X"}, {"Out"},
                         Attributes().Int(0).Int(0).Int(3).Int(0).Int(1).Int(2006002)),
             Contains("axis 3 of 'X'"));
  CHECK_THAT(bag.Message("dt_inverse", {"X"}, {"Out"}),
             Contains("'X' is no batch of square matrices"));
}

TEST_CASE("matrices without a factorisation are named by their number") {
  Bag bag;
  bag.Put<double>("X", {2, 2, 2}, {2, 0, 0, 2, 1, 2, 2, 4});
  CHECK_THAT(bag.Message("dt_inverse", {"X"}, {"Out"}), Contains("matrix 1 of 'X' is singular"));
  CHECK_THAT(bag.Message("dt_cholesky", {"X"}, {"Out"}, Attributes().Int(0)),
             Contains("matrix 1 of 'X' is not positive definite"));
  REQUIRE(bag.Run("dt_determinant", {"X"}, {"Out"}).ok());
  CHECK(bag.Data("Out") == std::vector<double>{4, 0});
}

}  // namespace
}  // namespace dtranspile::kernels
