// Kernels of the family `indexing`: what the corpus does not reach, and what is refused.
#include <catch2/catch.hpp>

#include "test/runtime/kernels/cpu/ops/bag.h"
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

// What the framework 2.6.2 gives: gradients flowing in are 1, 2, 3, 4.
TEST_CASE("gradients of put_along_axis by reduction") {
  struct Row {
    const char* reduce;
    bool include_self;
    std::vector<double> value, out, dx, dv;
  };
  const std::vector<double> apart = {3, 7, 0.5, 4}, equal = {3, 3, 0.5, 4};
  const Row kRows[] = {
      {"assign", true, apart, {0.5, 7, 4, 5}, {0, 0, 0, 4}, {0, 2, 1, 3}},
      {"add", true, apart, {2.5, 13, 8, 5}, {1, 2, 3, 4}, {2, 2, 1, 3}},
      {"add", false, apart, {0.5, 10, 4, 5}, {0, 0, 0, 4}, {2, 2, 1, 3}},
      {"multiply", true, apart, {1, 63, 16, 5}, {0.5, 42, 12, 4}, {42, 18, 2, 12}},
      {"mul", false, apart, {0.5, 21, 4, 5}, {0, 0, 0, 4}, {14, 6, 1, 3}},
      {"mean",
       true,
       apart,
       {1.25, 13.0 / 3, 4, 5},
       {0.5, 2.0 / 3, 1.5, 4},
       {2.0 / 3, 2.0 / 3, 0.5, 1.5}},
      {"mean", false, apart, {0.5, 5, 4, 5}, {0, 0, 0, 4}, {1, 1, 1, 3}},
      {"amin", true, apart, {0.5, 3, 4, 5}, {0, 1, 1.5, 4}, {1, 0, 1, 1.5}},
      {"amax", true, apart, {2, 7, 4, 5}, {1, 0, 1.5, 4}, {0, 2, 0, 1.5}},
      {"amax", true, equal, {2, 3, 4, 5}, {1, 2.0 / 3, 1.5, 4}, {2.0 / 3, 2.0 / 3, 0, 1.5}},
      {"amax", false, equal, {0.5, 3, 4, 5}, {0, 0, 0, 4}, {2.0 / 3, 2.0 / 3, 1, 1.5}},
  };
  for (const Row& row : kRows) {
    INFO(row.reduce << " " << row.include_self);
    Bag bag;
    bag.Put<double>("Input", {1, 4}, {2, 3, 4, 5});
    bag.Put<int64_t>("Index", {1, 4}, {1, 1, 0, 2});
    bag.Put<double>("Value", {1, 4}, row.value);
    bag.Put<double>("Result@GRAD", {1, 4}, {1, 2, 3, 4});
    REQUIRE(bag.Run("dt_put_along_axis", {"Input", "Index", "Value"}, {"Result"},
                    Attributes().Int(1).Text(row.reduce).Int(row.include_self))
                .ok());
    REQUIRE(bag.Run("dt_put_along_axis_grad", {"Input", "Index", "Value", "Result", "Result@GRAD"},
                    {"Input@GRAD", "Value@GRAD"},
                    Attributes().Int(1).Text(row.reduce).Int(row.include_self).Int(2006002))
                .ok());
    const std::pair<std::string, std::vector<double>> kExpected[] = {
        {"Result", row.out}, {"Input@GRAD", row.dx}, {"Value@GRAD", row.dv}};
    for (const auto& [name, expected] : kExpected) {
      INFO(name);
      const std::vector<double> found = bag.Data(name);
      for (size_t i = 0; i < 4; ++i) CHECK(found[i] == Approx(expected[i]));
    }
  }
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

double PutError(const std::vector<int64_t>& value, bool accumulate) {
  Bag bag;
  bag.PutNoise("x", {4, 3, 2});
  bag.PutNoise("value", value);
  bag.Put<int64_t>("i0", {2, 1}, {-1, 1});
  bag.Put<int64_t>("i1", {3}, {2, 0, 1});
  const Attributes attributes = Attributes().Int(accumulate);
  return GradientError(
      bag, "out", {"x", "value"},
      [&] { return bag.Run("dt_index_put", {"x", "i0, i1", "value"}, {"out"}, attributes); },
      [&] {
        return bag.Run("dt_index_put_grad", {"x", "i0, i1", "value", "out@GRAD"},
                       {"x@GRAD", "value@GRAD"}, attributes);
      });
}

TEST_CASE("values put at places have gradients, repeated ones those of sums") {
  for (const bool accumulate : {false, true}) {
    CHECK(PutError({2, 3, 2}, accumulate) < 1e-8);
    CHECK(PutError({3, 1}, accumulate) < 1e-8);
    CHECK(PutError({2, 1, 2}, accumulate) < 1e-8);
    CHECK(PutError({}, accumulate) < 1e-8);
  }
}

TEST_CASE("of equal places the last value counts, or all of them") {
  Bag bag;
  bag.Put<double>("x", {3}, {1, 2, 3});
  bag.Put<double>("value", {3}, {10, 20, 30});
  bag.Put<int64_t>("i", {3}, {1, -2, 0});
  REQUIRE(bag.Run("dt_index_put", {"x", "i", "value"}, {"out"}, Attributes().Int(0)).ok());
  CHECK(bag.Data("out") == std::vector<double>{30, 20, 3});
  REQUIRE(bag.Run("dt_index_put", {"x", "i", "value"}, {"out"}, Attributes().Int(1)).ok());
  CHECK(bag.Data("out") == std::vector<double>{31, 32, 3});
}

TEST_CASE("diagonals are filled beside and over again, and lose their gradient") {
  Bag bag;
  bag.Put<double>("X", {5, 2}, std::vector<double>(10, 0));
  const auto fill = [&](int64_t offset, bool wrap) {
    REQUIRE(bag.Run("dt_fill_diagonal", {"X"}, {"Out"},
                    Attributes().Real(1).Int(offset).Int(wrap).Int(1))
                .ok());
    return bag.Data("Out");
  };
  CHECK(fill(0, false) == std::vector<double>{1, 0, 0, 1, 0, 0, 0, 0, 0, 0});
  CHECK(fill(0, true) == std::vector<double>{1, 0, 0, 1, 0, 0, 1, 0, 0, 1});
  CHECK(fill(1, true) == std::vector<double>{0, 1, 0, 0, 0, 0, 0, 1, 0, 0});
  CHECK(fill(-1, false) == std::vector<double>{0, 0, 1, 0, 0, 0, 0, 0, 0, 0});
  // Of a cube the framework fills what the first plane has of its diagonal.
  bag.Put<double>("X", {2, 2, 2}, std::vector<double>(8, 0));
  CHECK(fill(0, false) == std::vector<double>{1, 0, 0, 0, 0, 0, 0, 0});
  REQUIRE(
      bag.Run("dt_fill_diagonal", {"X"}, {"Out"}, Attributes().Real(1).Int(0).Int(0).Int(0)).ok());
  CHECK(bag.Data("Out") == std::vector<double>{1, 0, 0, 0, 0, 0, 0, 1});

  bag.PutNoise("X", {3, 2, 5});
  bag.PutNoise("Y", {2, 2});
  const Attributes attributes = Attributes().Int(1).Int(2).Int(0);
  CHECK(GradientError(
            bag, "Out", {"X"},
            [&] { return bag.Run("dt_fill_diagonal_tensor", {"X", "Y"}, {"Out"}, attributes); },
            [&] {
              return bag.Run("dt_fill_diagonal_tensor_grad", {"Out@GRAD"}, {"X@GRAD"}, attributes);
            }) < 1e-8);
  // Y[b] lies on the diagonal of dims 2 and 0, one beside it along dim 0.
  CHECK(bag.Data("Out")[(1 * 2 + 1) * 5] == bag.Data("Y")[2]);
  CHECK(bag.Data("Out")[(2 * 2 + 1) * 5 + 1] == bag.Data("Y")[3]);
}

double MessageError(const std::vector<int64_t>& x, const std::vector<int64_t>& y,
                    const char* message, const char* pool) {
  Bag bag;
  bag.PutNoise("X", x);
  bag.PutNoise("Y", y);
  bag.Put<int64_t>("from", {5}, {0, 2, 1, 2, 0});
  bag.Put<int64_t>("to", {5}, {1, 1, 0, 3, 1});
  const std::vector<std::string> forward = {"X", "Y", "from", "to", ""};
  return GradientError(
      bag, "Out", {"X", "Y"},
      [&] {
        return bag.Run("dt_send_edges", forward, {"Out", "Count:int32"},
                       Attributes().Text(message).Text(pool).Ints({4}));
      },
      [&] {
        return bag.Run("dt_send_edges_grad", {"X", "Y", "from", "to", "Out", "Count", "Out@GRAD"},
                       {"X@GRAD", "Y@GRAD"}, Attributes().Text(message).Text(pool));
      });
}

TEST_CASE("messages of rows and edges have gradients, broadcast and pooled") {
  for (const char* message : {"ADD", "MUL"})
    for (const char* pool : {"SUM", "MEAN", "MAX", "MIN"}) {
      CHECK(MessageError({3, 2}, {5, 2}, message, pool) < 1e-8);
      CHECK(MessageError({3, 2}, {5, 1}, message, pool) < 1e-8);
      CHECK(MessageError({3, 1, 2}, {5, 3, 1}, message, pool) < 1e-8);
    }
}

TEST_CASE("messages of two rows have gradients") {
  for (const char* message : {"ADD", "MUL"}) {
    Bag bag;
    bag.PutNoise("x", {3, 1, 2});
    bag.PutNoise("y", {4, 2});
    bag.Put<int64_t>("from", {3}, {0, 2, 2});
    bag.Put<int64_t>("to", {3}, {1, 3, 1});
    const Attributes attributes = Attributes().Text(message);
    CHECK(
        GradientError(
            bag, "out", {"x", "y"},
            [&] { return bag.Run("dt_send_both", {"x", "y", "from", "to"}, {"out"}, attributes); },
            [&] {
              return bag.Run("dt_send_both_grad", {"x", "y", "from", "to", "out@GRAD"},
                             {"x@GRAD", "y@GRAD"}, attributes);
            }) < 1e-8);
    CHECK(bag.at("out").dims == std::vector<int64_t>{3, 1, 2});
  }
}

}  // namespace
}  // namespace dtranspile::kernels
