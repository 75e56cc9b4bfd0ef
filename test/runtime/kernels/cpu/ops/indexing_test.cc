// Kernels of the family `indexing`: what the corpus does not reach, and what is refused.
#include <catch2/catch.hpp>

#include "test/runtime/kernels/cpu/ops/slot_call.h"

namespace dtranspile::kernels {
namespace {

using Catch::Contains;

Tensor<float> Count(std::vector<int64_t> dims) {
  Tensor<float> x(std::move(dims));
  for (size_t i = 0; i < x.data.size(); ++i) x.data[i] = static_cast<float>(i);
  return x;
}

Tensor<int64_t> Indices(std::vector<int64_t> dims, std::vector<int64_t> values) {
  Tensor<int64_t> index(std::move(dims));
  index.data = std::move(values);
  return index;
}

SlotCall Slice(Tensor<float>& x, std::vector<int64_t> starts, std::vector<int64_t> ends,
               std::vector<int64_t> steps, std::vector<int64_t> dropped) {
  SlotCall slice("dt_slice");
  slice.In(x, "x").Slot().Slot().Slot().Slot().Slot().Slot().Out(DType::kFloat32);
  slice.Ints({0})
      .Ints(std::move(starts))
      .Ints(std::move(ends))
      .Ints(std::move(dropped))
      .Ints({2006002})
      .Ints(std::move(steps));
  return slice;
}

TEST_CASE("bounds of slices are clamped") {
  auto x = Count({5});
  SlotCall tail = Slice(x, {-2}, {100}, {1}, {});
  REQUIRE(tail.Run().ok());
  CHECK(tail.Data<float>() == std::vector<float>{3, 4});
  SlotCall back = Slice(x, {100}, {-1}, {-2}, {});
  REQUIRE(back.Run().ok());
  CHECK(back.Data<float>() == std::vector<float>{4, 2, 0});
  SlotCall none = Slice(x, {4}, {2}, {1}, {});
  REQUIRE(none.Run().ok());
  CHECK(none.Result().dims == std::vector<int64_t>{0});
  SlotCall extreme = Slice(x, {INT64_MIN}, {INT64_MAX}, {INT64_MAX}, {});
  REQUIRE(extreme.Run().ok());
  CHECK(extreme.Data<float>() == std::vector<float>{0});
}

TEST_CASE("slices that make no sense are refused by name") {
  auto x = Count({5});
  CHECK_THAT(Slice(x, {0}, {5}, {0}, {}).Message(), Contains("step 0 along axis 0 of 'x'"));
  CHECK_THAT(Slice(x, {0}, {3}, {1}, {0}).Message(),
             Contains("axis 0 of 'x'") && Contains("3 of its positions"));
}

TEST_CASE("indices out of range are refused with their value and bound") {
  auto x = Count({3, 4}), updates = Count({1, 4});
  for (int64_t bad : {int64_t{3}, int64_t{-1}, INT64_MIN, INT64_MAX}) {
    auto index = Indices({1, 1}, {bad}), row = Indices({1, 4}, {0, 0, bad, 0});
    const std::string value = std::to_string(bad);
    SlotCall gather("dt_gather_nd"), scatter("dt_scatter_nd_add"), select("dt_index_select"),
        take("dt_take_along_axis");
    CHECK_THAT(gather.In(x).In(index, "ids").Out(DType::kFloat32).Message(),
               Contains("'ids'") && Contains(value) && Contains("extent of 3"));
    CHECK_THAT(scatter.In(x).In(index, "ids").In(updates).Out(DType::kFloat32).Message(),
               Contains("'ids'") && Contains(value));
    CHECK_THAT(select.In(x).In(index, "ids").Out(DType::kFloat32).Ints({0}).Message(),
               Contains("'ids'") && Contains(value));
    CHECK_THAT(take.In(x).In(row, "ids").Out(DType::kFloat32).Ints({0}).Message(),
               Contains("'ids'"));
  }
}

TEST_CASE("rows that are named twice are summed in their order") {
  auto x = Count({2, 2}), updates = Noise<float>({3, 2}, 4);
  auto ids = Indices({3}, {1, 1, 1});
  SlotCall scatter("dt_scatter");
  scatter.In(x).In(ids).In(updates).Out(DType::kFloat32).Ints({0});
  REQUIRE(scatter.Run().ok());
  CHECK(scatter.Data<float>() == std::vector<float>{0, 1, updates[0] + updates[2] + updates[4],
                                                    updates[1] + updates[3] + updates[5]});
}

TEST_CASE("masked_select is as long as its mask asks for") {
  auto x = Count({4});
  Tensor<uint8_t> mask({4});
  mask.type = DType::kBool;
  mask.data = {1, 0, 0, 1};
  SlotCall select("dt_masked_select");
  REQUIRE(select.In(x).In(mask).Out(DType::kFloat32).Run().ok());
  CHECK(select.Data<float>() == std::vector<float>{0, 3});
}

TEST_CASE("a parent that is no beam is refused") {
  auto ids = Indices({2, 1, 2}, {1, 2, 3, 4}), parents = Indices({2, 1, 2}, {0, 0, 5, 0});
  SlotCall tree("dt_gather_tree");
  CHECK_THAT(tree.In(ids).In(parents, "parents").Out(DType::kInt64).Message(),
             Contains("'parents'") && Contains("beam 5"));
}

}  // namespace
}  // namespace dtranspile::kernels
