#include "runtime/kernels/cpu/gemm.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "test/runtime/kernels/cpu/ops/slot_call.h"

namespace dtranspile::kernels {
namespace {

struct Case {
  int64_t m, n, k, batch;
  bool trans_a, trans_b;
  double alpha;
};

// dt_gemm with the integers in the order of its signature, from trans_a to stride_c.
template <typename T, typename C>
absl::Status Multiplied(Tensor<T>& a, Tensor<T>& b, Tensor<C>& c, const std::vector<int64_t>& ints,
                        double alpha, int threads) {
  SlotCall call("dt_gemm");
  call.In(a).In(b).In(c);
  for (int64_t value : ints) call.Ints({value});
  return call.Reals({alpha}).Run(threads, 2);
}

template <typename T>
void Check(const Case& c, double tolerance) {
  const int64_t lda = (c.trans_a ? c.m : c.k) + 1, ldb = (c.trans_b ? c.k : c.n) + 2, ldc = c.n + 3;
  const int64_t size_a = (c.trans_a ? c.k : c.m) * lda, size_b = (c.trans_b ? c.n : c.k) * ldb,
                size_c = c.m * ldc;
  auto a = Noise<T>({c.batch, size_a}, 1), b = Noise<T>({c.batch, size_b}, 2),
       start = Noise<T>({c.batch, size_c}, 3);
  Tensor<T> results[] = {start, start};
  for (int threads : {1, 2})
    REQUIRE(Multiplied(a, b, results[threads - 1],
                       {c.trans_a, c.trans_b, c.m, c.n, c.k, lda, ldb, ldc, c.batch, size_a, size_b,
                        size_c},
                       c.alpha, threads)
                .ok());
  REQUIRE(results[0].data == results[1].data);
  for (int64_t z = 0; z < c.batch; ++z)
    for (int64_t i = 0; i < c.m; ++i)
      for (int64_t j = 0; j < c.n; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < c.k; ++k)
          sum += static_cast<double>(a[z * size_a + (c.trans_a ? k * lda + i : i * lda + k)]) *
                 static_cast<double>(b[z * size_b + (c.trans_b ? j * ldb + k : k * ldb + j)]);
        const double got = static_cast<double>(results[0][z * size_c + i * ldc + j]),
                     expected = c.alpha * sum;
        if (std::abs(got - expected) > tolerance * (1 + std::abs(expected)))
          FAIL("element " << i << ", " << j << ": " << got << " instead of " << expected);
      }
  // Between the rows of C nothing is written.
  if (c.m > 0 && c.n > 0) REQUIRE(results[0][c.n] == start[c.n]);
}

}  // namespace

TEST_CASE("products of every form agree with plain loops, for any number of threads") {
  const Case cases[] = {
      {1, 1, 1, 1, false, false, 1},      {7, 5, 9, 1, false, true, 0.5},
      {7, 5, 9, 6, true, false, 1},       {33, 65, 130, 1, true, true, -2},
      {300, 70, 257, 1, false, false, 1}, {64, 400, 200, 2, false, true, 1},
      {5, 6, 0, 1, false, false, 1},      {520, 40, 300, 1, true, false, 1},
  };
  for (const Case& c : cases) {
    CAPTURE(c.m, c.n, c.k);
    Check<float>(c, 2e-5);
    Check<double>(c, 1e-12);
  }
}

TEST_CASE("the old C is added where beta says so, and else not read") {
  auto a = Noise<float>({4, 4}, 1), b = Noise<float>({4, 4}, 2);
  Tensor<float> c({4, 4}, std::numeric_limits<float>::quiet_NaN()), sum({4, 4}, 1);
  exec::ThreadPool pool({1, false});
  DtContext context(&pool);
  const auto multiply = [&](double beta, Tensor<float>& to) {
    CHECK(Multiply(&context, Contiguous(false, false, 4, 4, 4, beta), a.data.data(), b.data.data(),
                   to.data.data()) == 0);
  };
  multiply(0, c);
  multiply(0.5, sum);
  for (int64_t i = 0; i < 16; ++i) REQUIRE(sum[i] == Approx(c[i] + 0.5f));
}

TEST_CASE("products that do not fit their buffers are refused") {
  auto a = Noise<float>({4, 4}, 1), b = Noise<float>({4, 4}, 2), c = Noise<float>({4, 4}, 3);
  auto wrong = Noise<double>({4, 4}, 3);
  const auto message = [&](std::vector<int64_t> ints, auto& out) {
    return std::string(Multiplied(a, b, out, ints, 1, 1).message());
  };
  const auto contains = [](const char* text) { return Catch::Contains(text); };
  CHECK_THAT(message({0, 0, 5, 4, 4, 4, 4, 4, 1, 0, 0, 0}, c), contains("A is too small"));
  CHECK_THAT(message({0, 0, 4, 5, 4, 4, 5, 5, 1, 0, 0, 0}, c), contains("B is too small"));
  CHECK_THAT(message({0, 0, 4, 4, 4, 4, 4, 4, 2, 0, 0, 1}, c), contains("C is too small"));
  CHECK_THAT(message({0, 0, 4, 4, 4, 4, 4, 4, 1LL << 62, 1LL << 62, 0, 0}, c),
             contains("A is too small"));
  CHECK_THAT(message({0, 0, 4, 4, 4, 3, 4, 4, 1, 0, 0, 0}, c), contains("A is too small"));
  CHECK_THAT(message({0, 0, -1, 4, 4, 4, 4, 4, 1, 0, 0, 0}, c), contains("negative"));
  CHECK_THAT(message({0, 0, 4}, c), contains("not those that this call takes"));
  CHECK_THAT(message({0, 0, 4, 4, 4, 4, 4, 4, 1, 0, 0, 0}, wrong), contains("float64"));
}

}  // namespace dtranspile::kernels
