// Kernels of the family `shape`: what the corpus does not reach, and what is refused.
#include <algorithm>
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

TEST_CASE("concat and split are inverse") {
  auto a = Noise<double>({2, 3, 4}, 1), b = Noise<double>({2, 1, 4}, 2);
  SlotCall concat("dt_concat");
  concat.Slot().With(a).With(b).Slot().Out(DType::kFloat64).Ints({-2});
  REQUIRE(concat.Run().ok());
  CHECK(concat.Result().dims == std::vector<int64_t>{2, 4, 4});
  Tensor<double> whole({2, 4, 4});
  whole.data = concat.Data<double>();
  SlotCall split("dt_split");
  split.In(whole).Slot().Slot().Out(DType::kFloat64, 2).Ints({3, -1}).Ints({1});
  REQUIRE(split.Run().ok());
  CHECK(split.Data<double>(0) == a.data);
  CHECK(split.Data<double>(1) == b.data);
  SlotCall odd("dt_split");
  odd.In(whole, "whole").Slot().Slot().Out(DType::kFloat64, 2).Ints({3, 2}).Ints({1});
  CHECK_THAT(odd.Message(), Contains("4 positions of 'whole'"));
}

TEST_CASE("equal parts along an axis are cut with a pad of zeros and put together without it") {
  auto x = Count({2, 5, 2});
  SlotCall cut("dt_cut_parts");
  cut.In(x).Out(DType::kFloat32).Ints({1}).Ints({3});
  REQUIRE(cut.Run().ok());
  CHECK(cut.Result().dims == std::vector<int64_t>{3, 2, 2, 2});
  CHECK(cut.Data<float>() == std::vector<float>{0,  1,  2,  3,  10, 11, 12, 13, 4,  5,  6, 7,
                                                14, 15, 16, 17, 8,  9,  0,  0,  18, 19, 0, 0});
  Tensor<float> parts({3, 2, 2, 2});
  parts.data = cut.Data<float>();
  Tensor<float> whole({2, 5, 2});
  SlotCall join("dt_join_parts");
  join.In(parts).In(whole).Ints({1}).Ints({3});
  REQUIRE(join.Run().ok());
  CHECK(whole.data == x.data);
  // The flattened tensor: ten parts of two elements, then eleven of which two are pad.
  SlotCall flat("dt_cut_parts");
  flat.In(x).Out(DType::kFloat32).Ints({-1}).Ints({11});
  REQUIRE(flat.Run().ok());
  CHECK(flat.Result().dims == std::vector<int64_t>{11, 2});
  CHECK(flat.Data<float>()[19] == 19);
  CHECK(flat.Data<float>()[20] == 0);
  SlotCall axis("dt_cut_parts");
  axis.In(x, "x").Out(DType::kFloat32).Ints({3}).Ints({2});
  CHECK_THAT(axis.Message(), Contains("'x' has no axis 3"));
  Tensor<float> other({2, 4, 2});
  SlotCall misfit("dt_join_parts");
  misfit.In(parts, "parts").In(other, "whole").Ints({1}).Ints({4});
  CHECK_THAT(misfit.Message(), Contains("'parts' is not 'whole' in 4 parts"));
}

TEST_CASE("parts that do not fit are refused by name") {
  auto a = Count({2, 3}), b = Count({3, 3});
  SlotCall concat("dt_concat");
  concat.Slot().With(a, "a").With(b, "b").Slot().Out(DType::kFloat32).Ints({1});
  CHECK_THAT(concat.Message(), Contains("'b'") && Contains("'a'"));
  SlotCall axis("dt_concat");
  axis.Slot().With(a, "a").Slot().Out(DType::kFloat32).Ints({2});
  CHECK_THAT(axis.Message(), Contains("axis 2 of 'a'"));
}

TEST_CASE("ragged parts are joined with their sequences") {
  exec::Value a(exec::Value::Kind::kTensor, DType::kFloat32),
      b(exec::Value::Kind::kTensor, DType::kFloat32);
  REQUIRE((a.Resize({3, 1}).ok() && b.Resize({2, 1}).ok()));
  std::fill_n(a.as<float>(), 3, 1.0F);
  std::fill_n(b.as<float>(), 2, 2.0F);
  a.lod = {{0, 1, 3}};
  b.lod = {{0, 0, 2}};
  SlotCall concat("dt_concat");
  concat.Slot().With(a).With(b).Slot().Out(DType::kFloat32).Ints({0});
  REQUIRE(concat.Run().ok());
  CHECK(concat.Data<float>() == std::vector<float>{1, 1, 1, 2, 2});
  CHECK(concat.Result().lod == Lod{{0, 1, 3, 3, 5}});
}

TEST_CASE("what is no dense tensor is refused by name") {
  exec::Value rows(exec::Value::Kind::kRows, DType::kFloat32);
  REQUIRE(rows.Resize({2, 3}).ok());
  SlotCall flip("dt_flip");
  flip.Slot().With(rows, "rows").Out(DType::kFloat32).Ints({0}).Ints({});
  CHECK_THAT(flip.Message(), Contains("'rows' is no dense tensor"));
}

TEST_CASE("gradients of repetition do not depend on the number of threads") {
  auto x = Count({1, 1000}), gradient = Noise<float>({300, 1000}, 3);
  std::vector<std::vector<float>> results;
  for (int threads : {1, 2}) {
    SlotCall grad("dt_expand_grad");
    grad.In(x).Slot().Slot().In(gradient).Out(DType::kFloat32).Ints({300, -1});
    REQUIRE(grad.Run(threads).ok());
    results.push_back(grad.Data<float>());
  }
  CHECK(results[0] == results[1]);
  double sum = 0;  // of many values, in the type that keeps their digits (long_sum.h)
  for (int64_t row = 0; row < 300; ++row) sum += gradient[row * 1000 + 7];
  CHECK(results[0][7] == static_cast<float>(sum));
}

TEST_CASE("expansion to other extents is refused") {
  auto x = Count({2, 3});
  SlotCall expand("dt_expand");
  expand.In(x, "x").Slot().Slot().Out(DType::kFloat32).Ints({4, 3});
  CHECK_THAT(expand.Message(), Contains("'x' has 2 positions in dim 0") && Contains("4"));
  SlotCall tile("dt_tile");
  tile.In(x, "x").Slot().Slot().Out(DType::kFloat32).Ints({int64_t{1} << 40, 1});
  CHECK_THAT(tile.Message(), Contains("repeated"));
}

TEST_CASE("a batch of any size is padded") {
  auto x = Count({2, 1, 2, 2});
  SlotCall pad("dt_pad2d");
  pad.In(x).Slot().Out(DType::kFloat32).Ints({0, 1, 1, 0}).Text("reflect").Reals({0}).Text("NCHW");
  REQUIRE(pad.Run().ok());
  CHECK(pad.Result().dims == std::vector<int64_t>{2, 1, 3, 3});
  CHECK(pad.Data<float>() ==
        std::vector<float>{1, 0, 1, 3, 2, 3, 1, 0, 1, 5, 4, 5, 7, 6, 7, 5, 4, 5});
  SlotCall far("dt_pad2d");
  far.In(x, "x")
      .Slot()
      .Out(DType::kFloat32)
      .Ints({2, 0, 0, 0})
      .Text("reflect")
      .Reals({0})
      .Text("NCHW");
  CHECK_THAT(far.Message(), Contains("dim 2 of 'x'"));
}

TEST_CASE("windows that do not fit are refused") {
  auto x = Count({1, 1, 2, 2});
  SlotCall unfold("dt_unfold");
  unfold.In(x).Out(DType::kFloat32).Ints({3, 3}).Ints({1, 1}).Ints({0, 0, 0, 0}).Ints({1, 1});
  CHECK_THAT(unfold.Message(), Contains("window of 3"));
}

TEST_CASE("tensors broadcast together have gradients that are sums") {
  Bag bag;
  bag.PutNoise("x", {3, 1});
  bag.PutNoise("y", {4});
  bag.Put<double>("b@GRAD", {3, 4}, std::vector<double>(12, 0));
  CHECK(GradientError(
            bag, "a", {"x"}, [&] { return bag.Run("dt_broadcast_tensors", {"x, y"}, {"a, b"}); },
            [&] {
              return bag.Run("dt_broadcast_tensors_grad", {"x, y", "a@GRAD, b@GRAD"},
                             {"x@GRAD, y@GRAD"});
            }) < 1e-8);
}

TEST_CASE("frames and the sum of frames are gradients of each other") {
  for (const int64_t axis : {-1, 0}) {
    Bag bag;
    bag.PutNoise("X", axis == 0 ? std::vector<int64_t>{9, 2} : std::vector<int64_t>{2, 9});
    const Attributes cut = Attributes().Int(4).Int(2).Int(axis),
                     add = Attributes().Int(2).Int(axis);
    CHECK(GradientError(
              bag, "Out", {"X"}, [&] { return bag.Run("dt_frame", {"X"}, {"Out"}, cut); },
              [&] { return bag.Run("dt_frame_grad", {"X", "Out@GRAD"}, {"X@GRAD"}, cut); }) < 1e-8);
    CHECK(bag.at("Out").dims ==
          (axis == 0 ? std::vector<int64_t>{3, 4, 2} : std::vector<int64_t>{2, 4, 3}));
    CHECK(GradientError(
              bag, "Sum", {"Out"}, [&] { return bag.Run("dt_overlap_add", {"Out"}, {"Sum"}, add); },
              [&] {
                return bag.Run("dt_overlap_add_grad", {"Out", "Sum@GRAD"}, {"Out@GRAD"}, add);
              }) < 1e-8);
  }
}

TEST_CASE("columns of matrices side by side and added have gradients") {
  for (const char* type : {"partial_concat", "partial_sum"}) {
    Bag bag;
    bag.PutNoise("a", {2, 4});
    bag.PutNoise("b", {2, 4});
    const Attributes columns = Attributes().Int(-3).Int(2).Text(type);
    CHECK(GradientError(
              bag, "Out", {"a", "b"},
              [&] { return bag.Run("dt_partial", {"a, b"}, {"Out"}, columns); },
              [&] {
                return bag.Run("dt_partial_grad", {"a, b", "Out@GRAD"}, {"a@GRAD, b@GRAD"},
                               columns);
              }) < 1e-8);
    CHECK(bag.at("Out").dims == (std::string(type) == "partial_sum" ? std::vector<int64_t>{2, 2}
                                                                    : std::vector<int64_t>{2, 4}));
  }
}

}  // namespace
}  // namespace dtranspile::kernels
