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

// X = M Mᵀ + diag(0, 1, 2), whose eigenvalues are apart.
void PutSymmetric(Bag& bag) {
  bag.Put<double>(
      "X", {2, 3, 3},
      {2, 0.5, -0.3, 0.5, 4, 0.7, -0.3, 0.7, 7, 1, -0.2, 0.4, -0.2, 2.5, 0.1, 0.4, 0.1, 5});
}

TEST_CASE("eigenvalues ascend, and their vectors give the matrix back") {
  for (const char* triangle : {"L", "U"}) {
    Bag bag;
    PutSymmetric(bag);
    REQUIRE(bag.Run("dt_eigh", {"X"}, {"W", "V"}, Attributes().Text(triangle)).ok());
    const std::vector<double> x = bag.Data("X"), w = bag.Data("W"), v = bag.Data("V");
    for (int m = 0; m < 2; ++m)
      for (int i = 0; i < 3; ++i) {
        CHECK((i == 0 || w[3 * m + i - 1] <= w[3 * m + i]));
        for (int j = 0; j < 3; ++j) {
          double sum = 0;
          for (int k = 0; k < 3; ++k)
            sum += v[9 * m + 3 * i + k] * w[3 * m + k] * v[9 * m + 3 * j + k];
          CHECK(sum == Approx(x[9 * m + 3 * i + j]).margin(1e-12));
        }
      }
  }
}

// The kernel's gradient is that of a symmetric matrix, of which one triangle is read: what
// differences of an element show is twice it off the diagonal.
double EighError(const char* of, bool vectors) {
  Bag bag;
  PutSymmetric(bag);
  return GradientError(
      bag, of, {"X"}, [&] { return bag.Run("dt_eigh", {"X"}, {"W", "V"}, Attributes().Text("L")); },
      [&] {
        absl::Status status =
            bag.Run("dt_eigh_grad", {"W", "V", vectors ? "" : "W@GRAD", vectors ? "V@GRAD" : ""},
                    {"X@GRAD"}, Attributes().Int(0));
        if (!status.ok()) return status;
        double* dx = bag.at("X@GRAD").as<double>();
        for (int m = 0; m < 2; ++m)
          for (int i = 0; i < 3; ++i)
            for (int j = 0; j < i; ++j) {
              dx[9 * m + 3 * i + j] += dx[9 * m + 3 * j + i];
              dx[9 * m + 3 * j + i] = 0;
            }
        return status;
      });
}

TEST_CASE("gradients of eigenvalues and of eigenvectors are those of differences") {
  CHECK(EighError("W", false) < 1e-7);
  CHECK(EighError("V", true) < 1e-7);
}

TEST_CASE("the framework's gradient of eigvalsh is right for one matrix only") {
  Bag bag;
  bag.Put<double>("V", {2, 2, 2}, {1, 0, 0, 1, 1, 0, 0, 1});
  bag.Put<double>("W@GRAD", {2, 2}, {1, 2, 3, 4});
  const std::vector<double> framework = {1, 0, 0, 4, 1, 0, 0, 4},
                            formula = {1, 0, 0, 2, 3, 0, 0, 4};
  for (const bool defects : {true, false}) {
    REQUIRE(
        bag.Run("dt_eigvalsh_grad", {"V", "W@GRAD"}, {"X@GRAD"}, Attributes().Int(defects)).ok());
    CHECK(bag.Data("X@GRAD") == (defects ? framework : formula));
  }
}

double SvdError(const std::vector<int64_t>& dims, const char* of, bool full) {
  Bag bag;
  bag.PutNoise("X", dims);
  const std::string gradient = std::string(of) + "@GRAD";
  auto given = [&](const char* slot) { return gradient == slot ? gradient : std::string(); };
  return GradientError(
      bag, of, {"X"},
      [&] { return bag.Run("dt_svd", {"X"}, {"U", "S", "VH"}, Attributes().Int(full)); },
      [&] {
        return bag.Run("dt_svd_grad",
                       {"U", "S", "VH", given("U@GRAD"), given("S@GRAD"), given("VH@GRAD")},
                       {"X@GRAD"});
      });
}

TEST_CASE("the framework gives all matrices the gradients of the first one's eigenvalues") {
  Bag bag;
  bag.Put<double>("V", {2, 2, 2}, {1, 0, 0, 1, 1, 0, 0, 1});
  bag.Put<double>("W@GRAD", {2, 2}, {1, 2, 3, 4});
  for (const bool defects : {true, false}) {
    REQUIRE(bag.Run("dt_eigh_grad", {"", "V", "W@GRAD", ""}, {"X@GRAD"}, Attributes().Int(defects))
                .ok());
    const std::vector<double> dx = bag.Data("X@GRAD");
    CHECK(dx[4] == (defects ? 1 : 3));
    CHECK(dx[7] == (defects ? 2 : 4));
  }
}

TEST_CASE("gradients of singular values and vectors are those of differences") {
  for (const std::vector<int64_t>& dims : {std::vector<int64_t>{2, 4, 3}, {3, 4}, {3, 3}}) {
    CHECK(SvdError(dims, "S", false) < 1e-6);
    CHECK(SvdError(dims, "U", false) < 1e-6);
    CHECK(SvdError(dims, "VH", false) < 1e-6);
    CHECK(SvdError(dims, "S", true) < 1e-6);
  }
}

TEST_CASE("full singular vectors are orthonormal, of a matrix of rank 1 too") {
  Bag bag;
  bag.Put<double>("X", {2, 4}, {1, 2, 0, -1, 2, 4, 0, -2});
  REQUIRE(bag.Run("dt_svd", {"X"}, {"U", "S", "VH"}, Attributes().Int(1)).ok());
  const std::vector<double> s = bag.Data("S"), v = bag.Data("VH");
  CHECK(s[0] == Approx(std::sqrt(30.0)));
  CHECK(s[1] == Approx(0).margin(1e-12));
  REQUIRE(v.size() == 16);
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      double sum = 0;
      for (int k = 0; k < 4; ++k) sum += v[4 * i + k] * v[4 * j + k];
      CHECK(sum == Approx(i == j ? 1 : 0).margin(1e-12));
    }
}

TEST_CASE("renorm scales what is above the bound; values and gradients of the framework") {
  Bag bag;
  bag.Put<double>("X", {2, 2}, {3, 4, 0.3, -0.4});
  bag.Put<double>("Out@GRAD", {2, 2}, {1, 2, 3, 4});
  const Attributes attributes = Attributes().Real(2).Int(0).Real(1);
  REQUIRE(bag.Run("dt_renorm", {"X"}, {"Out"}, attributes).ok());
  REQUIRE(bag.Run("dt_renorm_grad", {"X", "Out@GRAD"}, {"X@GRAD"}, attributes).ok());
  const std::vector<double> out = bag.Data("Out"), dx = bag.Data("X@GRAD");
  for (int i = 0; i < 4; ++i) {
    CHECK(out[i] == Approx(std::vector<double>{0.6, 0.8, 0.3, -0.4}[i]));
    CHECK(dx[i] == Approx(std::vector<double>{-0.064, 0.048, 3, 4}[i]));
  }
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

double FactoredError(const std::vector<int64_t>& x, const std::vector<int64_t>& y, bool upper) {
  Bag bag;
  bag.PutNoise("X", x);
  bag.PutNoise("Y", y);
  const int64_t n = y.back();
  for (int64_t e = 0; e < bag.at("Y").count(); ++e)
    if (e % (n * n) % (n + 1) == 0) bag.at("Y").as<double>()[e] += 3;
  const Attributes attributes = Attributes().Int(upper).Int(0);
  return GradientError(
      bag, "Out", {"X", "Y"},
      [&] { return bag.Run("dt_cholesky_solve", {"X", "Y"}, {"Out"}, Attributes().Int(upper)); },
      [&] {
        return bag.Run("dt_cholesky_solve_grad", {"X", "Y", "Out", "Out@GRAD"},
                       {"X@GRAD", "Y@GRAD"}, attributes);
      });
}

TEST_CASE("systems given by factors have gradients of the factors' triangles") {
  for (const bool upper : {false, true}) {
    CHECK(FactoredError({3, 2}, {3, 3}, upper) < 1e-7);
    CHECK(FactoredError({2, 1, 3, 1}, {4, 3, 3}, upper) < 1e-7);
    CHECK(FactoredError({2, 3, 2}, {3, 3}, upper) < 1e-7);
  }
}

double ChainError(const std::vector<std::vector<int64_t>>& factors) {
  Bag bag;
  std::vector<std::string> names;
  std::string inputs, gradients;
  for (const std::vector<int64_t>& dims : factors) {
    names.push_back("x" + std::to_string(names.size()));
    bag.PutNoise(names.back(), dims);
    const std::string comma = inputs.empty() ? "" : ", ";
    inputs += comma + names.back(), gradients += comma + names.back() + "@GRAD";
  }
  return GradientError(
      bag, "Out", names, [&] { return bag.Run("dt_multi_dot", {inputs}, {"Out"}); },
      [&] { return bag.Run("dt_multi_dot_grad", {inputs, "Out@GRAD"}, {gradients}); });
}

TEST_CASE("products of chains have gradients, of rows and columns too") {
  CHECK(ChainError({{3, 4}, {4, 2}}) < 1e-8);
  CHECK(ChainError({{5, 2}, {2, 6}, {6, 3}, {3, 4}}) < 1e-8);
  CHECK(ChainError({{4}, {4, 2}, {2, 3}}) < 1e-8);
  CHECK(ChainError({{3, 4}, {4, 2}, {2}}) < 1e-8);
  CHECK(ChainError({{4}, {4}}) < 1e-8);
}

double QrError(const std::vector<int64_t>& dims, const char* mode, bool of_r) {
  Bag bag;
  bag.PutNoise("X", dims);
  const Attributes attributes = Attributes().Text(mode);
  return GradientError(
      bag, of_r ? "R" : "Q", {"X"}, [&] { return bag.Run("dt_qr", {"X"}, {"Q", "R"}, attributes); },
      [&] {
        return bag.Run("dt_qr_grad", {"X", "Q", "R", of_r ? "" : "Q@GRAD", of_r ? "R@GRAD" : ""},
                       {"X@GRAD"}, attributes);
      });
}

TEST_CASE("both factors of a matrix have gradients") {
  for (const bool of_r : {false, true}) {
    CHECK(QrError({3, 3}, "reduced", of_r) < 1e-6);
    CHECK(QrError({2, 5, 3}, "reduced", of_r) < 1e-6);
    CHECK(QrError({3, 5}, "reduced", of_r) < 1e-6);
    CHECK(QrError({3, 4}, "complete", of_r) < 1e-6);
  }
}

double LuError(const std::vector<int64_t>& dims) {
  Bag bag;
  bag.PutNoise("X", dims);
  return GradientError(
      bag, "Out", {"X"},
      [&] { return bag.Run("dt_lu", {"X"}, {"Out", "Pivots:int32", "Infos:int32"}, {}); },
      [&] { return bag.Run("dt_lu_grad", {"X", "Out", "Pivots", "Out@GRAD"}, {"X@GRAD"}, {}); });
}

TEST_CASE("triangular factors have gradients, and make the matrix with the exchanges of its rows") {
  CHECK(LuError({3, 3}) < 1e-6);
  CHECK(LuError({2, 3, 5}) < 1e-6);
  CHECK(LuError({5, 2}) < 1e-6);
  Bag bag;
  bag.PutNoise("X", {3, 4});
  REQUIRE(bag.Run("dt_lu", {"X"}, {"Out", "Pivots:int32", "Infos:int32"}, {}).ok());
  CHECK(bag.Data<int32_t>("Infos") == std::vector<int32_t>{0});
  const Attributes both = Attributes().Int(1).Int(1);
  REQUIRE(bag.Run("dt_lu_unpack", {"Out", "Pivots"}, {"P", "L", "U"}, both).ok());
  REQUIRE(bag.Run("dt_matmul", {"P", "L"}, {"PL"}, Attributes().Int(0).Int(0).Real(1)).ok());
  REQUIRE(bag.Run("dt_matmul", {"PL", "U"}, {"PLU"}, Attributes().Int(0).Int(0).Real(1)).ok());
  const std::vector<double> x = bag.Data("X"), made = bag.Data("PLU");
  REQUIRE(made.size() == x.size());
  for (size_t i = 0; i < x.size(); ++i) CHECK(made[i] == Approx(x[i]).margin(1e-12));
  bag.Put<double>("X", {2, 2}, {0, 1, 0, 2});
  REQUIRE(bag.Run("dt_lu", {"X"}, {"Out", "Pivots:int32", "Infos:int32"}, {}).ok());
  CHECK(bag.Data<int32_t>("Infos") == std::vector<int32_t>{1});
}

}  // namespace
}  // namespace dtranspile::kernels
