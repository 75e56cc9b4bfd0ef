#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "test/runtime/kernels/call.h"

namespace dtranspile::kernels {
namespace {

struct Case {
  int64_t m, n, k, batch, outer;
  bool trans_a, trans_b;
  double alpha, beta;
};

template <typename T>
void Check(const Case& c, double tolerance) {
  const int64_t lda = (c.trans_a ? c.m : c.k) + 1, ldb = (c.trans_b ? c.k : c.n) + 2, ldc = c.n + 3;
  const int64_t size_a = (c.trans_a ? c.k : c.m) * lda, size_b = (c.trans_b ? c.n : c.k) * ldb,
                size_c = c.m * ldc;
  auto a = Noise<T>({c.outer, c.batch, size_a}, 1), b = Noise<T>({c.batch, size_b}, 2),
       start = Noise<T>({c.outer, c.batch, size_c}, 3);
  Tensor<T> results[] = {start, start};
  for (int threads : {1, 2}) {
    Call call{"dt_gemm",
              {c.trans_a, c.trans_b, c.m, c.n, c.k, lda, ldb, ldc, c.batch, size_a, size_b, size_c,
               c.outer, c.batch * size_a, 0, c.batch * size_c},
              {c.alpha, c.beta},
              {},
              {}};
    call.With(a).With(b).With(results[threads - 1]);
    // Run calls twice; with beta the second call would start from the result of the first.
    if (c.beta != 0) call.reals[1] = 1;
    REQUIRE(call.Run(threads).ok());
  }
  REQUIRE(results[0].data == results[1].data);
  const double repeated = c.beta != 0 ? 2 : 1;
  for (int64_t o = 0; o < c.outer; ++o)
    for (int64_t z = 0; z < c.batch; ++z)
      for (int64_t i = 0; i < c.m; ++i)
        for (int64_t j = 0; j < c.n; ++j) {
          double sum = 0;
          for (int64_t k = 0; k < c.k; ++k)
            sum += static_cast<double>(
                       a[(o * c.batch + z) * size_a + (c.trans_a ? k * lda + i : i * lda + k)]) *
                   static_cast<double>(b[z * size_b + (c.trans_b ? j * ldb + k : k * ldb + j)]);
          const int64_t at = (o * c.batch + z) * size_c + i * ldc + j;
          const double expected =
              repeated * c.alpha * sum + (c.beta != 0 ? static_cast<double>(start[at]) : 0);
          if (std::abs(static_cast<double>(results[0][at]) - expected) >
              tolerance * (1 + std::abs(expected)))
            FAIL("element " << i << ", " << j << ": " << results[0][at] << " instead of "
                            << expected);
        }
  // Between the rows of C nothing is written.
  if (c.m > 0 && c.n > 0) REQUIRE(results[0][c.n] == start[c.n]);
}

}  // namespace

TEST_CASE("products of every form agree with plain loops, for any number of threads") {
  const Case cases[] = {
      {1, 1, 1, 1, 1, false, false, 1, 0},      {7, 5, 9, 1, 1, false, true, 0.5, 0},
      {7, 5, 9, 3, 2, true, false, 1, 1},       {33, 65, 130, 1, 1, true, true, -2, 1},
      {300, 70, 257, 1, 1, false, false, 1, 0}, {64, 400, 200, 2, 1, false, true, 1, 0},
      {5, 6, 0, 1, 1, false, false, 1, 0},      {520, 40, 300, 1, 1, true, false, 1, 0},
  };
  for (const Case& c : cases) {
    CAPTURE(c.m, c.n, c.k);
    Check<float>(c, 2e-5);
    Check<double>(c, 1e-12);
  }
}

TEST_CASE("with beta 0 the old C is not read") {
  auto a = Noise<float>({4, 4}, 1), b = Noise<float>({4, 4}, 2);
  Tensor<float> c({4, 4}, std::numeric_limits<float>::quiet_NaN());
  Call call{"dt_gemm", {0, 0, 4, 4, 4, 4, 4, 4, 1, 0, 0, 0}, {1, 0}, {}, {}};
  call.With(a).With(b).With(c);
  REQUIRE(call.Run(1).ok());
  for (float value : c.data) REQUIRE(std::isfinite(value));
}

TEST_CASE("products that do not fit their buffers are refused") {
  auto a = Noise<float>({4, 4}, 1), b = Noise<float>({4, 4}, 2), c = Noise<float>({4, 4}, 3);
  auto wrong = Noise<double>({4, 4}, 3);
  const auto message = [&](std::vector<int64_t> ints, auto& out) {
    Call call{"dt_gemm", std::move(ints), {1, 0}, {}, {}};
    call.With(a).With(b).With(out);
    return std::string(call.Run(1).message());
  };
  CHECK(message({0, 0, 5, 4, 4, 4, 4, 4, 1, 0, 0, 0}, c).find("A is too small") !=
        std::string::npos);
  CHECK(message({0, 0, 4, 5, 4, 4, 5, 5, 1, 0, 0, 0}, c).find("B is too small") !=
        std::string::npos);
  CHECK(message({0, 0, 4, 4, 4, 4, 4, 4, 2, 0, 0, 1}, c).find("C is too small") !=
        std::string::npos);
  CHECK(message({0, 0, 4, 4, 4, 4, 4, 4, 1LL << 62, 1LL << 62, 0, 0}, c).find("A is too small") !=
        std::string::npos);
  CHECK(message({0, 0, 4, 4, 4, 3, 4, 4, 1, 0, 0, 0}, c).find("A is too small") !=
        std::string::npos);
  CHECK(message({0, 0, -1, 4, 4, 4, 4, 4, 1, 0, 0, 0}, c).find("negative") != std::string::npos);
  CHECK(message({0, 0, 4}, c).find("12 or 16 ints") != std::string::npos);
  CHECK(message({0, 0, 4, 4, 4, 4, 4, 4, 1, 0, 0, 0}, wrong).find("float64") != std::string::npos);
}

}  // namespace dtranspile::kernels
