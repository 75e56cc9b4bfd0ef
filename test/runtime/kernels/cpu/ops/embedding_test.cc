// Kernels of the family `embedding` and of sparse updates: SelectedRows, and what is refused.
#include <catch2/catch.hpp>

#include "test/runtime/kernels/cpu/ops/bag.h"

namespace dtranspile::kernels {
namespace {

using Catch::Contains;
using Numbers = std::vector<int64_t>;

void PutRows(Bag& bag, const std::string& name, int64_t height, const Numbers& rows,
             const std::vector<double>& values) {
  const auto count = static_cast<int64_t>(rows.size());
  bag.Put<double>(name, {count, static_cast<int64_t>(values.size()) / count}, values);
  bag.at(name).kind = exec::Value::Kind::kRows;
  bag.at(name).rows = rows;
  bag.at(name).height = height;
}

TEST_CASE("rows are looked up, padded with zeros, and their gradients added in order") {
  Bag bag;
  bag.Put<double>("W", {3, 2}, {1, 2, 3, 4, 5, 6});
  bag.Put<int64_t>("Ids", {2, 2}, {2, 0, 1, 2});
  REQUIRE(
      bag.Run("dt_lookup_table", {"W", "Ids"}, {"Out"}, Attributes().Int(1).Text("lookup_table_v2"))
          .ok());
  CHECK(bag.Data("Out") == std::vector<double>{5, 6, 1, 2, 0, 0, 5, 6});
  REQUIRE(bag.Run("dt_lookup_table_grad", {"W", "Ids", "Out"}, {"dW"}, Attributes().Int(1)).ok());
  CHECK(bag.Data("dW") == std::vector<double>{1, 2, 0, 0, 10, 12});
  bag.Put<int64_t>("Ids", {1, 2}, {0, 3});
  CHECK_THAT(bag.Message("dt_lookup_table", {"W", "Ids"}, {"Out"},
                         Attributes().Int(-1).Text("lookup_table_v2")),
             Contains("element 1 of 'Ids' is 3"));
}

TEST_CASE("a part of a table has the rows from its first one on") {
  Bag bag;
  bag.Put<double>("W", {2, 2}, {1, 2, 3, 4});
  bag.Put<int64_t>("Ids", {1, 4}, {3, 0, 5, 2});
  const Attributes second = Attributes().Int(-1).Text("c_embedding").Int(2).Int(6);
  REQUIRE(bag.Run("dt_lookup_table", {"W", "Ids"}, {"Out"}, second).ok());
  CHECK(bag.Data("Out") == std::vector<double>{3, 4, 0, 0, 0, 0, 1, 2});
  bag.Put<int64_t>("Ids", {1, 2}, {0, 8});
  CHECK_THAT(bag.Message("dt_lookup_table", {"W", "Ids"}, {"Out"}, second),
             Contains("element 1 of 'Ids' is 8, and no part of a table of 6 rows has it"));
}

TEST_CASE("sparse updates touch the listed rows only") {
  Bag bag;
  bag.Put<double>("p", {3, 2}, {1, 1, 1, 1, 1, 1});
  bag.Put<double>("m", {3, 2}, {0, 0, 0, 0, 0, 0});
  bag.Put<double>("lr", {1}, {0.5});
  PutRows(bag, "g", 3, {2, 0, 2}, {1, 2, 3, 4, 5, 6});
  REQUIRE(bag.Run("dt_sgd_rows", {"p", "g", "lr"}, {"out"}).ok());
  CHECK(bag.Data("out") == std::vector<double>{-0.5, -1, 1, 1, -2, -3});
  REQUIRE(bag.Run("dt_adagrad_rows", {"p", "g", "lr", "m"}, {"out", "moment"}, Attributes().Real(0))
              .ok());
  CHECK(bag.Data("moment") == std::vector<double>{9, 16, 0, 0, 36, 64});
  CHECK(bag.Data("out") == std::vector<double>{0.5, 0.5, 1, 1, 0.5, 0.5});
  PutRows(bag, "bad", 3, {0, 3}, {1, 2, 3, 4});
  CHECK_THAT(bag.Message("dt_sgd_rows", {"p", "bad", "lr"}, {"out"}),
             Contains("'bad' has the row 3, out of range for a height of 3"));
  PutRows(bag, "high", 4, {0}, {1, 2});
  CHECK_THAT(bag.Message("dt_sgd_rows", {"p", "high", "lr"}, {"out"}),
             Contains("'high' has rows of another height"));
  CHECK_THAT(bag.Message("dt_sgd_rows", {"p", "p", "lr"}, {"out"}),
             Contains("'p' is no SelectedRows"));
}

TEST_CASE("gradients of classes along the paths of a tree") {
  Bag bag;
  bag.PutNoise("X", {3, 2});
  bag.PutNoise("W", {4, 2});
  bag.PutNoise("B", {4, 1});
  bag.Put<int64_t>("L", {3, 1}, {0, 4, 2});
  Attributes classes;
  classes.Int(5);
  CHECK(GradientError(
            bag, "Out", {"X", "W", "B"},
            [&] {
              return bag.Run("dt_hierarchical_sigmoid", {"X", "W", "L", "", "", "B"},
                             {"Out", "Pre", ""}, classes);
            },
            [&] {
              return bag.Run("dt_hierarchical_sigmoid_grad",
                             {"X", "W", "L", "", "", "B", "Pre", "Out@GRAD"},
                             {"X@GRAD", "W@GRAD", "B@GRAD"}, classes);
            }) < 1e-7);
  CHECK(GradientError(
            bag, "Out", {"X", "W"},
            [&] {
              return bag.Run("dt_hierarchical_sigmoid", {"X", "W", "L", "", "", ""},
                             {"Out", "Pre", ""}, classes);
            },
            [&] {
              return bag.Run("dt_hierarchical_sigmoid_grad",
                             {"X", "W", "L", "", "", "", "Pre", "Out@GRAD"},
                             {"X@GRAD", "W@GRAD", ""}, classes);
            }) < 1e-7);
  bag.Put<int64_t>("L", {3, 1}, {0, 5, 2});
  CHECK_THAT(bag.Message("dt_hierarchical_sigmoid", {"X", "W", "L", "", "", "B"},
                         {"Out", "Pre", ""}, classes),
             Contains("element 1 of 'L' is 5"));
  bag.Put<int64_t>("T", {3, 2}, {0, 1, 0, 9, 2, -1});
  CHECK_THAT(bag.Message("dt_hierarchical_sigmoid", {"X", "W", "L", "T", "T", "B"},
                         {"Out", "Pre", ""}, classes),
             Contains("node 9 of 'W'"));
}

TEST_CASE("labels and places outside of the classes are refused") {
  Bag bag;
  bag.Put<int64_t>("X", {3}, {0, 4, 1});
  CHECK_THAT(
      bag.Message("dt_one_hot", {"X", ""}, {"Out"}, Attributes().Int(4).Int(0).Text("one_hot_v2")),
      Contains("element 1 of 'X' is 4"));
  REQUIRE(bag.Run("dt_one_hot", {"X", ""}, {"Out"}, Attributes().Int(2).Int(1).Text("one_hot_v2"))
              .ok());
  CHECK(bag.Data("Out") == std::vector<double>{1, 0, 0, 0, 0, 1});
  CHECK_THAT(
      bag.Message("dt_one_hot", {"X", ""}, {"Out"}, Attributes().Int(0).Int(1).Text("one_hot_v2")),
      Contains("a depth of 0"));
  bag.PutNoise("image", {1, 2, 2, 2});
  CHECK_THAT(bag.Message("dt_similarity_focus", {"image"}, {"Out"}, Attributes().Int(1).Ints({2})),
             Contains("index 2 of an extent of 2"));
}

}  // namespace
}  // namespace dtranspile::kernels
