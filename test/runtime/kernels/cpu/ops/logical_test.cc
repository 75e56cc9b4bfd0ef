// Kernels of the family `logical`: what the corpus does not reach, and what is refused.
#include <catch2/catch.hpp>
#include <cmath>

#include "test/runtime/kernels/cpu/ops/slot_call.h"

namespace dtranspile::kernels {
namespace {

using Catch::Contains;

TEST_CASE("closeness of what is no finite number") {
  const float inf = INFINITY, nan = NAN;
  Tensor<float> x({6}), y({6});
  x.data = {inf, inf, nan, 1, nan, inf};
  y.data = {inf, -inf, nan, 1.00001f, 1, 1};
  for (bool equal_nan : {false, true}) {
    SlotCall close("dt_close");
    close.In(x)
        .In(y)
        .Slot()
        .Slot()
        .Out(DType::kBool)
        .Text("1e-4")
        .Text("1e-8")
        .Ints({equal_nan})
        .Ints({2006002})
        .Text("isclose");
    REQUIRE(close.Run().ok());
    CHECK(close.Data<uint8_t>() == std::vector<uint8_t>{1, 1, equal_nan, 1, 0, 0});
  }
  SlotCall bad("dt_close");
  bad.In(x)
      .In(y)
      .Slot()
      .Slot()
      .Out(DType::kBool)
      .Text("near")
      .Text("0")
      .Ints({0})
      .Ints({2006002})
      .Text("allclose");
  CHECK_THAT(bad.Message(), Contains("'near' is no number"));
}

TEST_CASE("scalars have one dim before 2.5 and none from then on") {
  Tensor<float> x({2, 0});
  for (int64_t version : {1008005, 2006002}) {
    SlotCall empty("dt_is_empty");
    REQUIRE(empty.In(x).Out(DType::kBool).Ints({version}).Run().ok());
    CHECK(empty.Result().dims.size() == (version < 2005000 ? 1 : 0));
    CHECK(empty.Data<uint8_t>() == std::vector<uint8_t>{1});
  }
}

TEST_CASE("bits of tensors that broadcast") {
  Tensor<int32_t> x({2, 1}), y({3});
  x.data = {6, 5};
  y.data = {1, 2, 4};
  SlotCall both("dt_bitwise");
  REQUIRE(both.In(x).In(y).Out(DType::kInt32).Text("bitwise_and").Run().ok());
  CHECK(both.Result().dims == std::vector<int64_t>{2, 3});
  CHECK(both.Data<int32_t>() == std::vector<int32_t>{0, 2, 4, 1, 0, 4});
  Tensor<float> real({2});
  SlotCall floats("dt_bitwise");
  CHECK_THAT(floats.In(real, "real").Slot().Out(DType::kFloat32).Text("bitwise_not").Message(),
             Contains("'real' is float32"));
}

TEST_CASE("positions of what is not zero, also of nothing") {
  Tensor<float> x({2, 3});
  SlotCall none("dt_where_index");
  REQUIRE(none.In(x).Out(DType::kInt64).Run().ok());
  CHECK(none.Result().dims == std::vector<int64_t>{0, 2});
  x.data = {0, NAN, 0, 0, 0, -1};
  SlotCall two("dt_where_index");
  REQUIRE(two.In(x).Out(DType::kInt64).Run().ok());
  CHECK(two.Data<int64_t>() == std::vector<int64_t>{0, 1, 1, 2});
}

}  // namespace
}  // namespace dtranspile::kernels
