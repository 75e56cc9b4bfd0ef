// Calls that look up, move and convert.
#include <catch2/catch.hpp>
#include <cmath>

#include "test/runtime/kernels/cpu/ops/slot_call.h"

namespace dtranspile::kernels {
namespace {

void RequireOk(SlotCall& call, int threads) {
  const absl::Status status = call.Run(threads);
  INFO(status.ToString());
  REQUIRE(status.ok());
}

template <typename From, typename To>
void Cast(Tensor<From>& from, Tensor<To>& to) {
  SlotCall call("dt_cast");
  RequireOk(call.In(from).In(to), 1);
}

}  // namespace

TEST_CASE("ids are checked by name") {
  Tensor<int64_t> ids({2, 3});
  ids.data = {0, 4, -100, 3, 2, 1};
  const auto message = [&](std::vector<int64_t> ignore) {
    SlotCall call("dt_check_range");
    call.In(ids).Ints({0}).Ints({5}).Ints(std::move(ignore)).Text("label");
    return call.Message();
  };
  CHECK(message({-100}) == "succeeded");
  ids[3] = 5;
  CHECK(message({-100}) ==
        "dt_check_range: element 3 of 'label' is 5, expected at least 0 and below 5");
  ids[3] = 0;
  CHECK_THAT(message({}), Catch::Contains("element 2 of 'label' is -100"));
}

TEST_CASE("accuracy counts rows whose label is among the indices") {
  Tensor<float> out({4, 2}), accuracy({1});
  Tensor<int64_t> indices({4, 2}), label({4, 1});
  Tensor<int32_t> correct({1}), total({1});
  indices.data = {0, 1, 2, 3, 4, 5, 6, 7};
  label.data = {1, 1, 4, 0};
  SlotCall call("dt_accuracy");
  RequireOk(call.In(out).In(indices).In(label).In(accuracy).In(correct).In(total), 1);
  CHECK(accuracy[0] == 0.5f);
  CHECK(correct[0] == 2);
  CHECK(total[0] == 4);
  SlotCall lone("dt_accuracy");
  RequireOk(lone.In(out).In(indices).In(label).Slot().In(correct).Slot(), 1);
  Tensor<float> two({2});
  SlotCall wrong("dt_accuracy");
  wrong.In(out).In(indices).In(label).In(two, "two").Slot().Slot();
  CHECK_THAT(wrong.Message(), Catch::Contains("'two' must have one element"));
}

TEST_CASE("any permutation of dimensions") {
  std::vector<int64_t> perm{0, 1, 2, 3};
  const std::vector<int64_t> dims{3, 33, 1, 70};
  auto x = Noise<float>(dims, 1);
  do {
    std::vector<int64_t> out_dims;
    for (int64_t p : perm) out_dims.push_back(dims[static_cast<size_t>(p)]);
    Tensor<float> y(out_dims);
    SlotCall call("dt_transpose");
    call.In(x).In(y).Ints(perm);
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
    Tensor<float> back(dims);
    SlotCall inverse("dt_transpose_back");
    RequireOk(inverse.In(y).In(back).Ints(perm), 2);
    REQUIRE(back.data == x.data);
  } while (std::next_permutation(perm.begin(), perm.end()));
  Tensor<float> y({3, 33, 1, 70});
  for (const char* name : {"dt_transpose", "dt_transpose_back"}) {
    SlotCall twice(name), few(name);
    CHECK_THAT(twice.In(x).In(y).Ints({0, 0, 2, 3}).Message(), Catch::Contains("no permutation"));
    CHECK_THAT(few.In(x).In(y).Ints({0, 1}).Message(),
               Catch::Contains("a permutation of 2 for 4 dimensions"));
  }
}

TEST_CASE("casts") {
  Tensor<float> x({6});
  x.data = {0, 1.75f, -2.5f, 65504, 1e-7f, 0.33333f};
  Tensor<int32_t> ints({6});
  Cast(x, ints);
  CHECK(ints.data == std::vector<int32_t>{0, 1, -2, 65504, 0, 0});
  Tensor<uint8_t> bools({6});
  bools.type = DType::kBool;
  Cast(x, bools);
  CHECK(bools.data == std::vector<uint8_t>{0, 1, 1, 1, 1, 1});
  Tensor<uint16_t> half({6});
  Tensor<float> back({6});
  Cast(x, half);
  CHECK(half.data == std::vector<uint16_t>{0, 0x3f00, 0xc100, 0x7bff, 0x0002, 0x3555});
  Cast(half, back);
  CHECK(back[2] == -2.5f);
  CHECK(back[4] == 0x1p-23f);
  half.type = DType::kBFloat16;
  Cast(x, half);
  CHECK(half[5] == 0x3eab);
  half.type = DType::kComplex64;
  SlotCall complex("dt_cast");
  CHECK_THAT(complex.In(x).In(half).Message(), Catch::Contains("complex64"));
}

}  // namespace dtranspile::kernels
