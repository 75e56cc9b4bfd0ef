// Kernels of the family `sequence`: gradients against differences, LoD of results, and what is
// refused.
#include <catch2/catch.hpp>

#include "test/runtime/kernels/cpu/ops/bag.h"

namespace dtranspile::kernels {
namespace {

using Catch::Contains;

const Lod kLod = {{0, 3, 3, 4, 6}};  // one of them empty
constexpr double kSmall = 1e-8;

TEST_CASE("gradients of sequence_pool agree with differences") {
  for (const char* type : {"AVERAGE", "SUM", "SQRT", "LAST", "FIRST", "MAX"}) {
    Bag bag;
    bag.PutNoise("X", {6, 3}, kLod);
    const auto forward = [&] {
      return bag.Run("dt_sequence_pool", {"X"}, {"Out", "Index:int32"},
                     Attributes().Text(type).Real(0.25));
    };
    const auto backward = [&] {
      return bag.Run("dt_sequence_pool_grad", {"X", "Index", "Out@GRAD"}, {"X@GRAD"},
                     Attributes().Text(type));
    };
    INFO(type);
    CHECK(GradientError(bag, "Out", {"X"}, forward, backward) < kSmall);
    CHECK(bag.at("X@GRAD").lod == kLod);
    CHECK(bag.Data("Out")[3] == 0.25);  // of the empty sequence
  }
}

TEST_CASE("pooling takes one level of LoD away") {
  Bag bag;
  bag.PutNoise("X", {3, 1}, {{0, 1, 2}, {0, 2, 3}});
  REQUIRE(bag.Run("dt_sequence_pool", {"X"}, {"Out", ""}, Attributes().Text("SUM").Real(0)).ok());
  CHECK(bag.at("Out").lod == Lod{{0, 1, 2}});
}

TEST_CASE("gradients of sequence_softmax agree with differences") {
  Bag bag;
  bag.PutNoise("X", {6, 1}, kLod);
  const auto forward = [&] {
    return bag.Run("dt_sequence_softmax", {"X"}, {"Out"}, Attributes().Int(0));
  };
  const auto backward = [&] {
    return bag.Run("dt_sequence_softmax_grad", {"X", "Out", "Out@GRAD"}, {"X@GRAD"});
  };
  CHECK(GradientError(bag, "Out", {"X"}, forward, backward) < kSmall);
}

TEST_CASE("gradients of sequence_conv agree with differences") {
  for (int64_t start : {-4, -1, 0, 2}) {
    Bag bag;
    const int64_t length = 3,
                  padding = std::max<int64_t>(0, -start) + std::max<int64_t>(0, start + length - 1);
    bag.PutNoise("X", {6, 2}, kLod);
    bag.PutNoise("Padding", {padding, 2});
    bag.PutNoise("Filter", {length * 2, 4});
    const Attributes attributes = Attributes().Int(length).Int(start).Int(1).Int(1);
    const auto forward = [&] {
      return bag.Run("dt_sequence_conv", {"X", "Padding", "Filter"}, {"Out"}, attributes);
    };
    const auto backward = [&] {
      return bag.Run("dt_sequence_conv_grad", {"X", "Padding", "Filter", "Out@GRAD"},
                     {"X@GRAD", "Filter@GRAD", "Padding@GRAD"}, attributes);
    };
    INFO(start);
    CHECK(GradientError(bag, "Out", {"X", "Filter", "Padding"}, forward, backward) < kSmall);
    CHECK(bag.at("Out").lod == kLod);
  }
}

TEST_CASE("gradients of sequence_expand agree with differences") {
  for (const Lod& lod : {Lod{}, Lod{{0, 2, 2, 3}}}) {
    Bag bag;
    bag.PutNoise("X", {3, 2}, lod);
    bag.PutNoise("Y", {5, 1}, {{0, 2, 2, 5}});
    const auto forward = [&] {
      return bag.Run("dt_sequence_expand", {"X", "Y"}, {"Out"}, Attributes().Int(-1));
    };
    const auto backward = [&] {
      return bag.Run("dt_sequence_expand_grad", {"X", "Y", "Out@GRAD"}, {"X@GRAD"},
                     Attributes().Int(-1));
    };
    CHECK(GradientError(bag, "Out", {"X"}, forward, backward) < kSmall);
    CHECK(bag.at("Out").lod == (lod.empty() ? Lod{} : Lod{{0, 2, 4, 5, 6, 7}}));
  }
  Bag bag;
  bag.PutNoise("X", {3, 2});
  bag.PutNoise("Y", {5, 1}, {{0, 2, 2, 5}});
  const auto forward = [&] { return bag.Run("dt_sequence_expand_as", {"X", "Y"}, {"Out"}); };
  const auto backward = [&] {
    return bag.Run("dt_sequence_expand_as_grad", {"X", "Y", "Out@GRAD"}, {"X@GRAD"});
  };
  CHECK(GradientError(bag, "Out", {"X"}, forward, backward) < kSmall);
  CHECK(bag.at("Out").lod == Lod{{0, 2, 2, 5}});
}

TEST_CASE("gradients of moving ops agree with differences") {
  Bag bag;
  bag.PutNoise("X", {6, 2}, kLod);
  bag.PutNoise("Z", {5, 2}, {{0, 1, 2, 5, 5}});
  bag.Put<double>("Value", {2}, {7, 8});
  bag.Put<int64_t>("Offset", {4, 1}, {1, 0, 0, 1});
  bag.Put<int64_t>("Length", {4, 1}, {2, 0, 1, 1});
  const auto check = [&](const std::vector<std::string>& inputs, auto&& forward, auto&& backward) {
    CHECK(GradientError(bag, "Out", inputs, forward, backward) < kSmall);
    CHECK(bag.at("X@GRAD").lod == kLod);
  };
  check(
      {"X", "Z"}, [&] { return bag.Run("dt_sequence_concat", {"X, Z"}, {"Out"}); },
      [&] { return bag.Run("dt_sequence_concat_grad", {"X, Z", "Out@GRAD"}, {"X@GRAD, Z@GRAD"}); });
  check(
      {"X"}, [&] { return bag.Run("dt_sequence_reverse", {"X"}, {"Out"}); },
      [&] { return bag.Run("dt_sequence_reverse", {"Out@GRAD"}, {"X@GRAD"}); });
  check(
      {"X"}, [&] { return bag.Run("dt_sequence_slice", {"X", "Offset", "Length"}, {"Out"}); },
      [&] {
        return bag.Run("dt_sequence_slice_grad", {"X", "Offset", "Length", "Out@GRAD"}, {"X@GRAD"});
      });
  CHECK(bag.at("Out").lod == Lod{{0, 2, 2, 3, 4}});
  check(
      {"X"}, [&] { return bag.Run("dt_sequence_reshape", {"X"}, {"Out"}, Attributes().Int(1)); },
      [&] { return bag.Run("dt_sequence_reshape_grad", {"X", "Out@GRAD"}, {"X@GRAD"}); });
  CHECK(bag.at("Out").lod == Lod{{0, 6, 6, 8, 12}});
  check(
      {"X"},
      [&] {
        return bag.Run("dt_sequence_pad", {"X", "Value"}, {"Out", "Count:int64"},
                       Attributes().Int(5));
      },
      [&] { return bag.Run("dt_sequence_pad_grad", {"X", "Out@GRAD"}, {"X@GRAD"}); });
  CHECK(bag.at("Out").dims == std::vector<int64_t>{4, 5, 2});
  CHECK(bag.Data<int64_t>("Count") == std::vector<int64_t>{3, 0, 1, 2});
  check(
      {"X"},
      [&] { return bag.Run("dt_lod_reset", {"X", ""}, {"Out"}, Attributes().Ints({0, 6}).Int(0)); },
      [&] { return bag.Run("dt_lod_reset_grad", {"X", "Out@GRAD"}, {"X@GRAD"}); });
  CHECK(bag.at("Out").lod == Lod{{0, 6}});
}

TEST_CASE("gradients of sequence_unpad and sequence_scatter agree with differences") {
  Bag bag;
  bag.PutNoise("X", {3, 4, 2});
  bag.Put<int32_t>("Length", {3}, {4, 0, 2});
  CHECK(GradientError(
            bag, "Out", {"X"},
            [&] { return bag.Run("dt_sequence_unpad", {"X", "Length"}, {"Out"}); },
            [&] { return bag.Run("dt_sequence_unpad_grad", {"X", "Out@GRAD"}, {"X@GRAD"}); }) <
        kSmall);
  CHECK(bag.at("Out").lod == Lod{{0, 4, 4, 6}});
  bag.PutNoise("X", {2, 5});
  bag.PutNoise("Updates", {3, 1}, {{0, 2, 3}});
  bag.Put<int64_t>("Ids", {3, 1}, {4, 4, 0}, {{0, 2, 3}});
  CHECK(GradientError(
            bag, "Out", {"X", "Updates"},
            [&] { return bag.Run("dt_sequence_scatter", {"X", "Ids", "Updates"}, {"Out"}); },
            [&] {
              return bag.Run("dt_sequence_scatter_grad", {"Ids", "Updates", "Out@GRAD"},
                             {"X@GRAD", "Updates@GRAD"});
            }) < kSmall);
}

TEST_CASE("gradients of sequence_topk_avg_pooling agree with differences") {
  Bag bag;
  bag.PutNoise("X", {2 * 2 * 3 + 2 * 1 * 2, 1}, {{0, 12, 16}});
  bag.PutNoise("Row", {3, 1}, {{0, 2, 3}});
  bag.PutNoise("Column", {5, 1}, {{0, 3, 5}});
  const Attributes attributes = Attributes().Ints({1, 3}).Int(2);
  CHECK(GradientError(
            bag, "Out", {"X"},
            [&] {
              return bag.Run("dt_sequence_topk_avg_pooling", {"X", "Row", "Column"},
                             {"Out", "Pos:int32"}, attributes);
            },
            [&] {
              return bag.Run("dt_sequence_topk_avg_pooling_grad",
                             {"X", "Row", "Column", "Pos", "Out@GRAD"}, {"X@GRAD"}, attributes);
            }) < kSmall);
}

TEST_CASE("tokens") {
  Bag bag;
  bag.Put<int64_t>("X", {7, 1}, {0, 2, 2, 0, 2, 0, 0}, {{0, 5, 7}});
  REQUIRE(bag.Run("dt_ctc_align", {"X", ""}, {"Out:int64", ""}, Attributes().Int(0).Int(1).Int(0))
              .ok());
  CHECK(bag.Data<int64_t>("Out") == std::vector<int64_t>{2, 2});
  CHECK(bag.at("Out").lod == Lod{{0, 2, 2}});
  REQUIRE(bag.Run("dt_ctc_align", {"X", ""}, {"Out:int64", ""}, Attributes().Int(2).Int(0).Int(0))
              .ok());
  CHECK(bag.Data<int64_t>("Out") == std::vector<int64_t>{0, 0, 0, 0});
  REQUIRE(bag.Run("dt_sequence_erase", {"X"}, {"Out:int64"}, Attributes().Ints({0, 9})).ok());
  CHECK(bag.Data<int64_t>("Out") == std::vector<int64_t>{2, 2, 2});
  CHECK(bag.at("Out").lod == Lod{{0, 3, 3}});
  REQUIRE(bag.Run("dt_sequence_enumerate", {"X"}, {"Out:int64"}, Attributes().Int(2).Int(-1)).ok());
  CHECK(bag.Data<int64_t>("Out") ==
        std::vector<int64_t>{0, 2, 2, 2, 2, 0, 0, 2, 2, -1, 0, 0, 0, -1});
  bag.Put<int64_t>("Y", {6, 1}, {2, 2, 2, 0, 0, 1}, {{0, 3, 6}});
  REQUIRE(bag.Run("dt_edit_distance", {"X", "Y", "", ""}, {"Count:int64", "Out:float"},
                  Attributes().Int(0))
              .ok());
  CHECK(bag.Data<float>("Out") == std::vector<float>{2, 1});
}

TEST_CASE("LoD that does not fit is refused") {
  const auto message = [](const Lod& lod) {
    Bag bag;
    bag.PutNoise("X", {4, 1}, lod);
    return bag.Message("dt_sequence_reverse", {"X"}, {"Out"});
  };
  CHECK_THAT(message({}), Contains("'X' has no LoD"));
  CHECK_THAT(message({{1, 4}}), Contains("level 0 of the LoD of 'X' does not begin with 0"));
  CHECK_THAT(message({{}}), Contains("level 0 of the LoD of 'X' does not begin with 0"));
  CHECK_THAT(message({{0, 5}}), Contains("ends with 5, but there are 4 items"));
  CHECK_THAT(message({{0, 3, 2, 4}}), Contains("decreases at 2: 2 after 3"));
  CHECK_THAT(message({{0, 2}, {0, 4}}),
             Contains("level 0 of the LoD of 'X' ends with 2, but there are 1 items"));
}

TEST_CASE("arguments out of range are refused with their value") {
  Bag bag;
  bag.PutNoise("X", {4, 2}, {{0, 1, 4}});
  bag.PutNoise("Y", {5, 2}, {{0, 1, 4, 5}});
  bag.PutNoise("Matrix", {2, 3});
  bag.Put<double>("Value", {1}, {0});
  bag.Put<int64_t>("Bad", {2}, {1, 4});
  bag.Put<int64_t>("Negative", {2}, {-1, 0});
  bag.Put<int64_t>("Ones", {2}, {1, 1});
  bag.Put<int64_t>("Ids", {2, 1}, {0, 3}, {{0, 1, 2}});
  bag.Put<float>("Single", {4, 2}, std::vector<float>(8), {{0, 1, 4}});
  CHECK_THAT(bag.Message("dt_sequence_pad", {"X", "Value"}, {"Out", ""}, Attributes().Int(2)),
             Contains("padded_length 2") && Contains("'X', 3"));
  CHECK_THAT(bag.Message("dt_sequence_unpad", {"Matrix", "Bad"}, {"Out"}),
             Contains("'Bad' has the length 4, expected 0 to 3"));
  CHECK_THAT(bag.Message("dt_sequence_slice", {"X", "Negative", "Ones"}, {"Out"}),
             Contains("'Negative' has the length -1"));
  CHECK_THAT(bag.Message("dt_sequence_slice", {"X", "Ones", "Ones"}, {"Out"}),
             Contains("slice [1, 2) of sequence 0 of 'X', which has 1 rows"));
  CHECK_THAT(bag.Message("dt_sequence_expand", {"X", "Y"}, {"Out"}, Attributes().Int(-1)),
             Contains("'X' has 2 items, the LoD of 'Y' repeats 3"));
  CHECK_THAT(bag.Message("dt_sequence_expand", {"X", "Y"}, {"Out"}, Attributes().Int(1)),
             Contains("level 1 of the LoD of 'Y', which has 1"));
  CHECK_THAT(bag.Message("dt_sequence_concat", {"X, Y"}, {"Out"}),
             Contains("'Y' has not as many sequences"));
  CHECK_THAT(bag.Message("dt_sequence_concat", {"X, Single"}, {"Out"}), Contains("'Single'"));
  CHECK_THAT(bag.Message("dt_sequence_reshape", {"X"}, {"Out"}, Attributes().Int(4)),
             Contains("sequence 0 of 'X' has 2 elements"));
  CHECK_THAT(bag.Message("dt_sequence_scatter", {"Matrix", "Ids", "Value"}, {"Out"}),
             Contains("'Ids' has the index 3, out of range for 3 columns"));
  CHECK_THAT(
      bag.Message("dt_sequence_pool", {"X"}, {"Out", ""}, Attributes().Text("MEDIAN").Real(0)),
      Contains("MEDIAN"));
  CHECK_THAT(
      bag.Message("dt_sequence_pool", {"X"}, {"Out:float", ""}, Attributes().Text("SUM").Real(0)),
      Contains("'Out' is float32, 'X' is float64"));
  CHECK_THAT(bag.Message("dt_lod_reset", {"X", ""}, {"Out"}, Attributes().Ints({0, 3}).Int(0)),
             Contains("rise from 0 to its 4 rows"));
  CHECK_THAT(bag.Message("dt_sequence_softmax", {"X"}, {"Out"}, Attributes().Int(0)),
             Contains("'X' has 2 elements in a row"));
}

}  // namespace
}  // namespace dtranspile::kernels
