// Kernels of the family `quantization`: levels, scales and the numbers that they stand for.
#include <catch2/catch.hpp>

#include "test/runtime/kernels/cpu/ops/bag.h"

namespace dtranspile::kernels {
namespace {

constexpr const char* kLevels = "fake_quantize_abs_max";
constexpr const char* kNumbers = "fake_quantize_dequantize_abs_max";

TEST_CASE("numbers are rounded to levels within the largest magnitude") {
  Bag bag;
  // Of four bits 7 levels to either side: 2.5 of 7 is the level 2.5, which is between two.
  bag.Put<double>("X", {5}, {7, -2.5, 2.5, 3.4, 0});
  const auto run = [&](int64_t round, const char* type, double scale) {
    REQUIRE(bag.Run("dt_quantize_abs_max", {"X"}, {"Out", "OutScale"},
                    Attributes().Int(4).Int(round).Text(type))
                .ok());
    CHECK(bag.Data("OutScale") == std::vector<double>{scale});
    return bag.Data("Out");
  };
  CHECK(run(1, kLevels, 7) == std::vector<double>{7, -3, 3, 3, 0});
  CHECK(run(0, kLevels, 7) == std::vector<double>{7, -2, 2, 3, 0});
  bag.Put<double>("X", {3}, {14, -5, 6.8});
  // Two to a level.
  CHECK(run(1, kNumbers, 14) == std::vector<double>{14, -6, 6});
}

TEST_CASE("each channel has a scale of its own") {
  Bag bag;
  bag.Put<double>("X", {2, 2, 2}, {7, 1, 14, 2, -3.5, 0.5, 0, 0});
  for (const int64_t axis : {0, 1}) {
    REQUIRE(bag.Run("dt_quantize_channels", {"X"}, {"Out", "OutScale"},
                    Attributes().Int(axis).Int(4).Int(1).Text(kLevels))
                .ok());
    CHECK(bag.Data("OutScale") ==
          (axis == 0 ? std::vector<double>{14, 3.5} : std::vector<double>{7, 14}));
    CHECK(bag.Data("Out") == (axis == 0 ? std::vector<double>{4, 1, 7, 1, -7, 1, 0, 0}
                                        : std::vector<double>{7, 1, 7, 1, -4, 1, 0, 0}));
  }
}

TEST_CASE("a moving average fades, and stays as it is in test mode") {
  Bag bag;
  bag.Put<double>("X", {2}, {3, -6});
  bag.Put<double>("scale", {1}, {2});
  bag.Put<double>("accum", {1}, {4});
  bag.Put<double>("state", {1}, {1});
  const auto run = [&](bool test) {
    REQUIRE(bag.Run("dt_quantize_average", {"X", "scale", "accum", "state"},
                    {"Out", "OutScale", "OutState", "OutAccum"},
                    Attributes().Real(0.5).Int(8).Int(test).Int(1).Text(kLevels))
                .ok());
  };
  run(false);
  CHECK(bag.Data("OutAccum") == std::vector<double>{8});  // 0.5 · 4 + 6
  CHECK(bag.Data("OutState") == std::vector<double>{1.5});
  CHECK(bag.Data("OutScale")[0] == Approx(8 / 1.5));
  CHECK(bag.Data("Out") == std::vector<double>{71, -127});  // 3 · 127 / 5.333, cut at the scale
  run(true);
  CHECK(bag.Data("OutAccum") == std::vector<double>{4});
  CHECK(bag.Data("OutScale") == std::vector<double>{2});
  CHECK(bag.Data("Out") == std::vector<double>{127, -127});
}

TEST_CASE("the largest of a window is looked for again when it leaves") {
  Bag bag;
  bag.Put<double>("X", {1}, {2});
  bag.Put<double>("scale", {1}, {5});
  bag.Put<int64_t>("step", {1}, {4});
  bag.Put<double>("kept", {3}, {1, 5, 3});
  const auto run = [&] {
    REQUIRE(bag.Run("dt_quantize_range", {"X", "scale", "step", "kept"},
                    {"Out", "OutScale", "OutScales"}, Attributes().Int(3).Int(8).Int(0).Int(1))
                .ok());
  };
  run();  // 5 stood in the place of step 4
  CHECK(bag.Data("OutScales") == std::vector<double>{1, 2, 3});
  CHECK(bag.Data("OutScale") == std::vector<double>{3});
  bag.Put<double>("X", {1}, {9});
  run();
  CHECK(bag.Data("OutScale") == std::vector<double>{9});
  bag.Put<double>("X", {1}, {2});
  bag.Put<int64_t>("step", {1}, {3});
  run();
  CHECK(bag.Data("OutScale") == std::vector<double>{5});
}

TEST_CASE("levels go back to the numbers that they stand for") {
  Bag bag;
  bag.Put<double>("X", {2, 2}, {127, -127, 63.5, 0});
  bag.Put<double>("one", {1}, {2});
  bag.Put<double>("two", {2}, {2, 4});
  const auto run = [&](const char* scale, int64_t axis) {
    REQUIRE(bag.Run("dt_dequantize_linear", {"X", scale, ""}, {"Y"},
                    Attributes().Int(axis).Int(8).Int(0))
                .ok());
    return bag.Data("Y");
  };
  CHECK(run("one", -1) == std::vector<double>{2, -2, 1, 0});
  CHECK(run("two", 0) == std::vector<double>{2, -2, 2, 0});
  CHECK(run("two", 1) == std::vector<double>{2, -4, 1, 0});
}

}  // namespace
}  // namespace dtranspile::kernels
