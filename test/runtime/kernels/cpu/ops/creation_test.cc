// Kernels of the family `creation`: what the corpus does not reach, and what is refused.
#include <catch2/catch.hpp>

#include "test/runtime/kernels/cpu/ops/slot_call.h"

namespace dtranspile::kernels {
namespace {

using Catch::Contains;

template <typename T>
Tensor<T> One(T value) {
  return Tensor<T>({1}, value);
}

TEST_CASE("constants of 64 bits are exact, in a shape that comes with the data") {
  Tensor<int32_t> shape({2});
  shape.data = {2, 3};
  SlotCall fill("dt_fill_constant");
  fill.Slot()
      .In(shape)
      .Slot()
      .Out(DType::kInt64)
      .Ints({-1, -1})
      .Reals({9.0e18})
      .Text("9007199254740993");
  REQUIRE(fill.Run().ok());
  CHECK(fill.Result().dims == std::vector<int64_t>{2, 3});
  CHECK(fill.Data<int64_t>() == std::vector<int64_t>(6, 9007199254740993));
  shape.data = {2, -3};
  SlotCall negative("dt_fill_constant");
  negative.Slot().In(shape).Slot().Out(DType::kFloat32).Ints({}).Reals({1}).Text("");
  CHECK_THAT(negative.Message(), Contains("extent of -3"));
}

TEST_CASE("ranges") {
  auto start = One<float>(1), end = One<float>(0), step = One<float>(-0.25f), none = One<float>(0);
  SlotCall down("dt_range");
  REQUIRE(down.In(start).In(end).In(step).Out(DType::kFloat32).Run().ok());
  CHECK(down.Data<float>() == std::vector<float>{1, 0.75f, 0.5f, 0.25f});
  SlotCall endless("dt_range");
  CHECK_THAT(endless.In(start).In(end).In(none).Out(DType::kFloat32).Message(), Contains("no end"));
  SlotCall empty("dt_range");
  REQUIRE(empty.In(end).In(start).In(step).Out(DType::kFloat32).Run().ok());
  CHECK(empty.Result().dims == std::vector<int64_t>{0});
  auto nobody = One<int64_t>(0);
  SlotCall linspace("dt_linspace");
  CHECK_THAT(linspace.In(start).In(end).In(nobody, "num").Out(DType::kFloat32).Message(),
             Contains("'num' asks for 0 numbers"));
}

TEST_CASE("numbers that an integer type does not hold are refused") {
  SlotCall fill("dt_fill");
  fill.Out(DType::kInt32).Reals({1e300}).Ints({1});
  CHECK_THAT(fill.Message(), Contains("1e+300 is no int32 for 'out'"));
  SlotCall count("dt_fill");
  count.Out(DType::kInt32).Reals({1, 2}).Ints({3});
  CHECK_THAT(count.Message(), Contains("2 values for 'out' of 3 elements"));
}

TEST_CASE("the parts of a coalesced tensor begin at multiples of the alignment") {
  Tensor<float> a({3}, 1), b({2}, 2);
  SlotCall coalesce("dt_coalesce");
  coalesce.Slot()
      .With(a)
      .With(b)
      .Out(DType::kFloat32, 2)
      .Out(DType::kFloat32)
      .Ints({1})
      .Ints({0})
      .Reals({0})
      .Ints({1})
      .Ints({16});
  REQUIRE(coalesce.Run().ok());
  CHECK(coalesce.Data<float>(0) == a.data);
  CHECK(coalesce.Data<float>(1) == b.data);
  CHECK(coalesce.Data<float>(2) == std::vector<float>{1, 1, 1, 0, 2, 2, 0, 0});
}

}  // namespace
}  // namespace dtranspile::kernels
