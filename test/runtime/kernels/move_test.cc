// Calls that look up, move, convert and reduce.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "test/runtime/kernels/call.h"

namespace dtranspile::kernels {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

void RequireOk(Call& call, int threads) {
  const absl::Status status = call.Run(threads);
  INFO(status.ToString());
  REQUIRE(status.ok());
}

std::string MessageOf(Call& call) { return std::string(call.Run(1).message()); }

}  // namespace

TEST_CASE("ids are checked by name") {
  Tensor<int64_t> ids({2, 3});
  ids.data = {0, 4, -100, 3, 2, 1};
  Call call{"dt_check_range", {0, 5, 1, -100}, {}, {"label"}, {}};
  RequireOk(call.With(ids), 1);
  ids[3] = 5;
  CHECK(MessageOf(call) ==
        "dt_check_range: element 3 of 'label' is 5, expected at least 0 and below 5");
  ids[3] = 0;
  call.ints = {0, 5, 0, 0};
  CHECK(MessageOf(call).find("element 2 of 'label' is -100") != std::string::npos);
}

TEST_CASE("accuracy counts rows whose label is among the indices") {
  Tensor<float> out({4, 2}), accuracy({1});
  Tensor<int64_t> indices({4, 2}), label({4, 1});
  Tensor<int32_t> correct({1}), total({1});
  indices.data = {0, 1, 2, 3, 4, 5, 6, 7};
  label.data = {1, 1, 4, 0};
  Call call{"dt_accuracy", {}, {}, {}, {}};
  RequireOk(call.With(out).With(indices).With(label).With(accuracy).With(correct).With(total), 1);
  CHECK(accuracy[0] == 0.5f);
  CHECK(correct[0] == 2);
  CHECK(total[0] == 4);
}

TEST_CASE("any permutation of dimensions") {
  std::vector<int64_t> perm{0, 1, 2, 3};
  const std::vector<int64_t> dims{3, 33, 1, 70};
  auto x = Noise<float>(dims, 1);
  do {
    std::vector<int64_t> out_dims;
    for (int64_t p : perm) out_dims.push_back(dims[static_cast<size_t>(p)]);
    Tensor<float> y(out_dims);
    Call call{"dt_transpose", perm, {}, {}, {}};
    call.With(x).With(y);
    for (int threads : {1, 2}) {
      std::fill(y.data.begin(), y.data.end(), 0.f);
      RequireOk(call, threads);
      int64_t strides[4] = {33 * 70, 70, 70, 1}, at = 0;
      for (int64_t a = 0; a < out_dims[0]; ++a)
        for (int64_t b = 0; b < out_dims[1]; ++b)
          for (int64_t c = 0; c < out_dims[2]; ++c)
            for (int64_t d = 0; d < out_dims[3]; ++d, ++at)
              if (y[at] != x[a * strides[perm[0]] + b * strides[perm[1]] + c * strides[perm[2]] +
                             d * strides[perm[3]]])
                FAIL("element " << at);
    }
  } while (std::next_permutation(perm.begin(), perm.end()));
  Tensor<float> y({3, 33, 1, 70});
  Call twice{"dt_transpose", {0, 0, 2, 3}, {}, {}, {}};
  CHECK(MessageOf(twice.With(x).With(y)).find("no permutation") != std::string::npos);
}

TEST_CASE("casts") {
  Tensor<float> x({6});
  x.data = {0, 1.75f, -2.5f, 65504, 1e-7f, 0.33333f};
  Tensor<int32_t> ints({6});
  Call to_int{"dt_cast", {}, {}, {}, {}};
  RequireOk(to_int.With(x).With(ints), 1);
  CHECK(ints.data == std::vector<int32_t>{0, 1, -2, 65504, 0, 0});
  Tensor<uint8_t> bools({6});
  bools.type = DType::kBool;
  Call to_bool{"dt_cast", {}, {}, {}, {}};
  RequireOk(to_bool.With(x).With(bools), 1);
  CHECK(bools.data == std::vector<uint8_t>{0, 1, 1, 1, 1, 1});
  Tensor<uint16_t> half({6});
  Tensor<float> back({6});
  Call to_half{"dt_cast", {}, {}, {}, {}}, from_half{"dt_cast", {}, {}, {}, {}};
  RequireOk(to_half.With(x).With(half), 1);
  CHECK(half.data == std::vector<uint16_t>{0, 0x3f00, 0xc100, 0x7bff, 0x0002, 0x3555});
  RequireOk(from_half.With(half).With(back), 1);
  CHECK(back[2] == -2.5f);
  CHECK(back[4] == 0x1p-23f);
  half.type = DType::kBFloat16;
  RequireOk(Call{"dt_cast", {}, {}, {}, {}}.With(x).With(half), 1);
  CHECK(half[5] == 0x3eab);
  half.type = DType::kComplex64;
  CHECK(MessageOf(Call{"dt_cast", {}, {}, {}, {}}.With(x).With(half)).find("complex64") !=
        std::string::npos);
}

TEST_CASE("reductions over any dimensions") {
  const std::vector<int64_t> dims{5, 40, 1, 300};
  auto x = Noise<float>(dims, 1);
  for (unsigned mask = 0; mask < 16; ++mask) {
    std::vector<int64_t> reduced, out_dims;
    for (int64_t d = 0; d < 4; ++d) {
      if (mask >> d & 1) reduced.push_back(d);
      else out_dims.push_back(dims[static_cast<size_t>(d)]);
    }
    if (mask == 0) reduced = {0, 1, 2, 3}, out_dims = {};
    std::vector<double> sums(static_cast<size_t>(Product(out_dims)), 0), most(sums.size(), -10);
    for (int64_t i = 0; i < Product(dims); ++i) {
      const int64_t index[4] = {i / (300 * 40), i / 300 % 40, 0, i % 300};
      int64_t at = 0;
      for (int64_t d = 0; d < 4; ++d)
        if (mask != 0 && !(mask >> d & 1)) at = at * dims[static_cast<size_t>(d)] + index[d];
      sums[static_cast<size_t>(at)] += static_cast<double>(x[i]);
      most[static_cast<size_t>(at)] =
          std::max(most[static_cast<size_t>(at)], static_cast<double>(x[i]));
    }
    Tensor<float> one(out_dims), two(out_dims);
    Call sum{"dt_reduce", mask == 0 ? std::vector<int64_t>{} : reduced, {}, {"sum"}, {}},
        again = sum;
    RequireOk(sum.With(x).With(one), 1);
    RequireOk(again.With(x).With(two), 2);
    REQUIRE(one.data == two.data);
    for (size_t i = 0; i < sums.size(); ++i)
      REQUIRE(static_cast<double>(one.data[i]) == Approx(sums[i]).margin(1e-5));
    Call max{"dt_reduce", reduced, {}, {"max"}, {}};
    RequireOk(max.With(x).With(one), 2);
    for (size_t i = 0; i < sums.size(); ++i) REQUIRE(static_cast<double>(one.data[i]) == most[i]);
  }
}

TEST_CASE("reductions of other kinds and types") {
  Tensor<int32_t> x({2, 3}), y({2});
  x.data = {1, -2, 3, 4, 5, 6};
  const auto reduce = [&](const char* kind) {
    RequireOk(Call{"dt_reduce", {1}, {}, {kind}, {}}.With(x).With(y), 1);
    return y.data;
  };
  CHECK(reduce("sum") == std::vector<int32_t>{2, 15});
  CHECK(reduce("mean") == std::vector<int32_t>{0, 5});
  CHECK(reduce("min") == std::vector<int32_t>{-2, 4});
  CHECK(reduce("prod") == std::vector<int32_t>{-6, 120});
  Tensor<uint8_t> flags({2, 2}), result({2});
  flags.type = result.type = DType::kBool;
  flags.data = {1, 0, 1, 1};
  RequireOk(Call{"dt_reduce", {1}, {}, {"all"}, {}}.With(flags).With(result), 1);
  CHECK(result.data == std::vector<uint8_t>{0, 1});
  RequireOk(Call{"dt_reduce", {1}, {}, {"any"}, {}}.With(flags).With(result), 1);
  CHECK(result.data == std::vector<uint8_t>{1, 1});
  Tensor<float> values({20}, 1), most({1});
  values[11] = kNan;
  RequireOk(Call{"dt_reduce", {}, {}, {"max"}, {}}.With(values).With(most), 1);
  CHECK(std::isnan(most[0]));
  CHECK(MessageOf(Call{"dt_reduce", {3}, {}, {"max"}, {}}.With(values).With(most))
            .find("dimension 3 of 1") != std::string::npos);
  CHECK(MessageOf(Call{"dt_reduce", {}, {}, {"all"}, {}}.With(values).With(most))
            .find("no reduction 'all'") != std::string::npos);
}

}  // namespace dtranspile::kernels
