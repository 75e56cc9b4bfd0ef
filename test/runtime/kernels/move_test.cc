// Calls that look up, move and convert.
#include <catch2/catch.hpp>
#include <cmath>

#include "test/runtime/kernels/call.h"

namespace dtranspile::kernels {
namespace {

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

}  // namespace dtranspile::kernels
