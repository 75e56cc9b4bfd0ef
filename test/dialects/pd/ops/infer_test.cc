// The arithmetic of extents: broadcasting, products, windows, reshapes, slices, and what does not
// fit.
#include "catch2/catch.hpp"
#include "dialects/pd/ops/infer_convolution.h"
#include "dialects/pd/ops/infer_elementwise.h"
#include "dialects/pd/ops/infer_indexing.h"
#include "dialects/pd/ops/infer_linear_algebra.h"
#include "dialects/pd/ops/infer_shape.h"

namespace dtranspile::pd {
namespace {

std::string show(const std::optional<Dims>& dims) { return dims ? textOf(*dims) : "none"; }
std::string broadcast(Dims x, Dims y, int64_t axis = -1) { return show(broadcastDims(x, y, axis)); }
std::string reshape(Dims from, Dims to) { return show(reshapeDims(from, to)); }
std::string multiply(Dims x, Dims y, bool tx = false, bool ty = false) {
  return show(matmulDims({x, y, tx, ty}));
}

TEST_CASE("products of extents", "[infer]") {
  CHECK(productOf({}) == 1);
  CHECK(productOf({2, 3}) == 6);
  CHECK(productOf({2, -1}) == -1);
  CHECK(productOf({0, -1}) == 0);
  CHECK(!productOf({-2}));
  CHECK(!productOf({int64_t{1} << 40, int64_t{1} << 40}));
  CHECK(axisOf(-1, 3) == 2);
  CHECK(!axisOf(3, 3));
  CHECK(!axisOf(-4, 3));
}

TEST_CASE("broadcast", "[infer]") {
  CHECK(broadcast({2, 3}, {2, 3}) == "[2, 3]");
  CHECK(broadcast({2, 3}, {3}) == "[2, 3]");
  CHECK(broadcast({3}, {2, 3}) == "[2, 3]");
  CHECK(broadcast({2, 1}, {1, 3}) == "[2, 3]");
  CHECK(broadcast({-1, 3}, {3}) == "[?, 3]");
  CHECK(broadcast({-1, 3}, {8, 3}) == "[8, 3]");
  CHECK(broadcast({}, {}) == "[]");
  CHECK(broadcast({4}, {}) == "[4]");
  CHECK(broadcast({2, 3}, {2}) == "none");
  SECTION("with axis") {
    CHECK(broadcast({2, 3, 4, 5}, {3, 4}, 1) == "[2, 3, 4, 5]");
    CHECK(broadcast({2, 3, 4, 5}, {3}, 1) == "[2, 3, 4, 5]");
    CHECK(broadcast({2, 3, 4, 5}, {2}, 0) == "[2, 3, 4, 5]");
    CHECK(broadcast({2, 3, 4}, {3, 1, 1, 1}, 1) == "[3, 2, 3, 4]");
    CHECK(broadcast({2, 3, 4, 5}, {3, 1, 1}, 1) == "[2, 3, 4, 5]");
    CHECK(broadcast({2, 3, 4, 5}, {3, 4}, 2) == "none");
    CHECK(broadcast({2, 3}, {3}, 2) == "none");
    CHECK(broadcast({2, 3}, {3}, -2) == "none");
  }
}

TEST_CASE("products of matrices", "[infer]") {
  CHECK(multiply({2, 3}, {3, 4}) == "[2, 4]");
  CHECK(multiply({3, 2}, {3, 4}, true) == "[2, 4]");
  CHECK(multiply({2, 3}, {4, 3}, false, true) == "[2, 4]");
  CHECK(multiply({7, 2, 3}, {3, 4}) == "[7, 2, 4]");
  CHECK(multiply({7, 1, 2, 3}, {5, 3, 4}) == "[7, 5, 2, 4]");
  CHECK(multiply({3}, {3, 4}) == "[4]");
  CHECK(multiply({2, 3}, {3}) == "[2]");
  CHECK(multiply({3}, {3}) == "[1]");
  CHECK(multiply({-1, 3}, {-1, 4}) == "[?, 4]");
  CHECK(multiply({2, 3}, {4, 5}) == "none");
  CHECK(multiply({2, 2, 3}, {3, 3, 5}) == "none");
  CHECK(multiply({}, {3}) == "none");
}

TEST_CASE("windows", "[infer]") {
  CHECK(windowCount({28, 5, 1, 1, 0, 0}) == 24);
  CHECK(windowCount({28, 5, 2, 1, 2, 2}) == 14);
  CHECK(windowCount({7, 3, 1, 2, 0, 0}) == 3);
  CHECK(windowCount({-1, 3}) == -1);
  CHECK(windowCount({6, 3, 2, 1, 0, 0, false}) == 2);
  CHECK(windowCount({6, 3, 2, 1, 0, 0, true}) == 3);
  CHECK(!windowCount({2, 3}));
  CHECK(windowCount({3, 5, 3, 1, 0, 0, false, true}) == 1);
  CHECK(!windowCount({2, 5, 3, 1, 0, 0, false, true}));
  CHECK(!windowCount({8, 3, 0}));
  CHECK(!windowCount({8, 3, 1, 0}));
  CHECK(!windowCount({8, 3, 1, int64_t{1} << 62}));
  CHECK(!windowCount({8, 3, 1, 1, INT64_MAX, INT64_MAX}));
}

TEST_CASE("reshape", "[infer]") {
  CHECK(reshape({2, 12}, {0, 3, -1}) == "[2, 3, 4]");
  CHECK(reshape({-1, 12}, {0, 3, -1}) == "[?, 3, ?]");
  CHECK(reshape({-1, 4, 4}, {-1, 16}) == "[?, 16]");
  CHECK(reshape({6}, {2, 3}) == "[2, 3]");
  CHECK(reshape({1}, {}) == "[]");
  CHECK(reshape({6}, {2, kUnknownValue}) == "[2, ?]");
  CHECK(reshape({6}, {4}) == "none");
  CHECK(reshape({6}, {4, -1}) == "none");
  CHECK(reshape({6}, {-1, -1}) == "none");
  CHECK(reshape({6}, {6, 0}) == "none");
  CHECK(reshape({6}, {-3}) == "none");
}

TEST_CASE("slices", "[infer]") {
  CHECK(sliceExtent(10, 2, 5) == 3);
  CHECK(sliceExtent(10, -3, INT32_MAX) == 3);
  CHECK(sliceExtent(10, 5, 2) == 0);
  CHECK(sliceExtent(10, -100, 100) == 10);
  CHECK(sliceExtent(-1, 0, 5) == -1);
  CHECK(sliceExtent(10, kUnknownValue, 5) == -1);
}

}  // namespace
}  // namespace dtranspile::pd
