// Kernels of the family `reduction`: what the corpus does not reach, and what is refused.
#include <catch2/catch.hpp>
#include <limits>

#include "test/runtime/kernels/cpu/ops/bag.h"

namespace dtranspile::kernels {
namespace {

using Catch::Contains;
using Numbers = std::vector<int64_t>;

// Which of equal values come, and where NaN goes, is what paddle.topk of 2.6.2 and, without an
// axis, fluid.layers.topk of 1.8.5 give.
TEST_CASE("top_k sorts along any axis, and picks of equal values those that the framework picks") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  Bag bag;
  bag.Put<float>("X", {2, 5}, {1, 3, 3, 2, 3, -1, nan, 5, nan, 0});
  REQUIRE(bag.Run("dt_top_k", {"X", ""}, {"Out:float", "Indices:int64"}, Attributes().Int(3)).ok());
  CHECK(bag.Data<int64_t>("Indices") == Numbers{4, 1, 2, 2, 1, 4});
  REQUIRE(bag.Run("dt_top_k", {"X", ""}, {"Out:float", "Indices:int64"},
                  Attributes().Int(3).Int(1).Int(0))
              .ok());
  CHECK(bag.Data<int64_t>("Indices") == Numbers{0, 3, 4, 0, 4, 2});
  REQUIRE(bag.Run("dt_top_k", {"X", ""}, {"Out:float", "Indices:int64"},
                  Attributes().Int(1).Int(0).Int(1))
              .ok());
  CHECK(bag.Data<int64_t>("Indices") == Numbers{0, 1, 1, 1, 0});
  CHECK_THAT(
      bag.Message("dt_top_k", {"X", ""}, {"Out:float", "Indices:int64"}, Attributes().Int(6)),
      Contains("first 6 of 'X', which has 5"));
  CHECK_THAT(bag.Message("dt_top_k", {"X", ""}, {"Out:float", "Indices:int64"},
                         Attributes().Int(1).Int(2).Int(1)),
             Contains("axis 2 of 'X'"));
}

TEST_CASE("cumulative sums and their gradients") {
  Bag bag;
  bag.Put<int64_t>("X", {2, 3}, {1, 2, 3, 4, 5, 6});
  const auto scan = [&](int64_t axis, bool flatten, bool exclusive, bool reverse) {
    REQUIRE(bag.Run("dt_cumsum", {"X"}, {"Out:int64"},
                    Attributes().Int(axis).Int(flatten).Int(exclusive).Int(reverse))
                .ok());
    return bag.Data<int64_t>("Out");
  };
  CHECK(scan(-1, false, false, false) == Numbers{1, 3, 6, 4, 9, 15});
  CHECK(scan(0, false, false, false) == Numbers{1, 2, 3, 5, 7, 9});
  CHECK(scan(-1, false, true, false) == Numbers{0, 1, 3, 0, 4, 9});
  CHECK(scan(-1, false, false, true) == Numbers{6, 5, 3, 15, 11, 6});
  CHECK(scan(-1, true, true, true) == Numbers{20, 18, 15, 11, 6, 0});
  bag.PutNoise("V", {2, 4});
  CHECK(GradientError(
            bag, "W", {"V"},
            [&] {
              return bag.Run("dt_cumsum", {"V"}, {"W"}, Attributes().Int(1).Int(0).Int(1).Int(0));
            },
            [&] {
              return bag.Run("dt_cumsum", {"W@GRAD"}, {"V@GRAD"},
                             Attributes().Int(1).Int(0).Int(1).Int(0).Text("cumsum_grad"));
            }) < 1e-8);
}

TEST_CASE("products up to a zero and after it have gradients") {
  Bag bag;
  bag.Put<double>("X", {3, 4}, {2, 0, 3, 4, 0, 1, 0, 2, 5, 6, 7, 8});
  CHECK(GradientError(
            bag, "Out", {"X"},
            [&] { return bag.Run("dt_cumprod", {"X"}, {"Out"}, Attributes().Int(1)); },
            [&] {
              return bag.Run("dt_cumprod_grad", {"X", "Out", "Out@GRAD"}, {"X@GRAD"},
                             Attributes().Int(1));
            }) < 1e-4);
}

TEST_CASE("slices are grouped by value, by appearance or as runs") {
  Bag bag;
  bag.Put<int64_t>("X", {4, 2}, {3, 1, 0, 5, 3, 1, 3, 1});
  const std::vector<std::string> outs = {"Out:int64", "Indices:int64", "Index:int64",
                                         "Counts:int64"};
  REQUIRE(bag.Run("dt_unique", {"X"}, outs, Attributes().Text("unique").Ints({0}).Int(1)).ok());
  CHECK(bag.Data<int64_t>("Out") == Numbers{0, 5, 3, 1});
  CHECK(bag.Data<int64_t>("Indices") == Numbers{1, 0});
  CHECK(bag.Data<int64_t>("Index") == Numbers{1, 0, 1, 1});
  REQUIRE(bag.Run("dt_unique", {"X"}, outs, Attributes().Text("unique_with_counts")).ok());
  CHECK(bag.Data<int64_t>("Out") == Numbers{3, 1, 0, 5});
  CHECK(bag.Data<int64_t>("Counts") == Numbers{3, 3, 1, 1});
  REQUIRE(
      bag.Run("dt_unique", {"X"}, outs, Attributes().Text("unique_consecutive").Ints({0})).ok());
  CHECK(bag.Data<int64_t>("Counts") == Numbers{1, 1, 2});
}

TEST_CASE("places out of range are refused with their value and bound") {
  Bag bag;
  bag.PutNoise("X", {2, 3});
  bag.PutNoise("dOut", {2, 1});
  bag.Put<int64_t>("ids", {2, 1}, {0, 3});
  CHECK_THAT(bag.Message("dt_selected_grad", {"X", "ids", "dOut"}, {"dX"}, Attributes().Int(1)),
             Contains("'ids' has the index 3, out of range for an extent of 3"));
  CHECK_THAT(bag.Message("dt_kth_value", {"X"}, {"Out", "Indices:int64"},
                         Attributes().Int(4).Int(1).Int(0)),
             Contains("element 4 of 'X'"));
  bag.PutNoise("none", {2, 0});
  CHECK_THAT(bag.Message("dt_arg_extreme", {"none"}, {"Out:int64"},
                         Attributes().Int(1).Int(0).Int(0).Text("arg_max")),
             Contains("'none' has no element"));
}

TEST_CASE("medians leave NaN out, and their gradient goes to the middle") {
  Bag bag;
  bag.Put<double>("X", {3, 4}, {4, NAN, 1, 2, NAN, NAN, NAN, NAN, 7, 5, NAN, 6.5});
  REQUIRE(
      bag.Run("dt_nan_median", {"X"}, {"Out", "MedianIndex:int64"}, Attributes().Ints({1}).Int(0))
          .ok());
  CHECK(bag.Data("Out")[0] == 2);
  CHECK(std::isnan(bag.Data("Out")[1]));
  CHECK(bag.Data("Out")[2] == 6.5);
  CHECK(bag.Data<int64_t>("MedianIndex") == std::vector<int64_t>{3, 3, -1, -1, 3, 3});

  bag.PutNoise("V", {3, 4, 2});
  for (const std::vector<int64_t>& axes : {std::vector<int64_t>{}, {0}, {1, -1}, {-2}})
    CHECK(GradientError(
              bag, "M", {"V"},
              [&] {
                return bag.Run("dt_nan_median", {"V"}, {"M", "P:int64"},
                               Attributes().Ints(axes).Int(1));
              },
              [&] {
                return bag.Run("dt_nan_median_grad", {"V", "P", "M@GRAD"}, {"V@GRAD"},
                               Attributes().Ints(axes));
              }) < 1e-8);
}

TEST_CASE("numbers are counted, or their weights added") {
  Bag bag;
  bag.Put<int64_t>("X", {4}, {2, 0, 2, 1});
  bag.Put<double>("W", {4}, {1, 2, 4, 8});
  REQUIRE(bag.Run("dt_bin_count", {"X", ""}, {"Out:int64"}, Attributes().Int(5)).ok());
  CHECK(bag.Data<int64_t>("Out") == std::vector<int64_t>{1, 1, 2, 0, 0});
  REQUIRE(bag.Run("dt_bin_count", {"X", "W"}, {"Out"}, Attributes().Int(0)).ok());
  CHECK(bag.Data("Out") == std::vector<double>{2, 8, 5});
}

}  // namespace
}  // namespace dtranspile::kernels
