// Expanded schedules: known tables, every task once, and no shape that gives a wrong one.
#include "compiler/schedule/schedule.h"

#include <catch2/catch.hpp>
#include <set>

namespace dtranspile::schedule {
namespace {

std::string rowOf(std::string_view name, const Shape& shape, size_t stage) {
  std::string why, text;
  std::optional<Table> table = expand(name, shape, why);
  INFO(why);
  REQUIRE(table);
  for (const Entry& entry : table->at(stage)) text += (text.empty() ? "" : " ") + textOf(entry);
  return text;
}

}  // namespace

TEST_CASE("the order of each stage") {
  CHECK(rowOf("F-then-B", {2, 1, 3}, 0) == "F0 F1 F2 B0 B1 B2");
  CHECK(rowOf("1F1B", {3, 1, 6}, 0) == "F0 F1 F2 B0 F3 B1 F4 B2 F5 B3 B4 B5");
  CHECK(rowOf("1F1B", {3, 1, 6}, 1) == "F0 F1 B0 F2 B1 F3 B2 F4 B3 F5 B4 B5");
  CHECK(rowOf("1F1B", {3, 1, 6}, 2) == "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5");
  CHECK(rowOf("1F1B", {2, 2, 4}, 1) ==
        "F0 F1 F1.0 B1.0 F1.1 B1.1 F2 B0 F3 B1 F1.2 B1.2 F1.3 B1.3 B2 B3");
  CHECK(rowOf("ZB-H1", {2, 1, 3}, 1) == "F0 B0 F1 B1 W0 F2 B2 W1 W2");
}

TEST_CASE("every task of every micro-batch stands once in a row") {
  for (const std::string& name : names())
    for (int64_t stages : {1, 2, 3, 4, 8})
      for (int64_t chunks : {1, 2, 3})
        for (int64_t micros : {stages, 2 * stages, 4 * stages}) {
          std::string why;
          std::optional<Table> table = expand(name, {stages, chunks, micros}, why);
          if (name == "ZB-H1" && chunks > 1) {
            CHECK_FALSE(table);
            continue;
          }
          REQUIRE(table);
          for (const std::vector<Entry>& row : *table) {
            std::set<std::string> seen;
            for (const Entry& entry : row) CHECK(seen.insert(textOf(entry)).second);
            CHECK(static_cast<int64_t>(seen.size()) == (name == "ZB-H1" ? 3 : 2) * chunks * micros);
          }
        }
}

TEST_CASE("micro-batches that are under way at once have copies of their own") {
  const auto copies = [](const char* name, const Shape& shape, int64_t stage) {
    std::string why;
    return instancesOf((*expand(name, shape, why))[static_cast<size_t>(stage)], shape.micros);
  };
  CHECK(copies("F-then-B", {2, 1, 4}, 1) == 4);
  CHECK(copies("1F1B", {3, 1, 6}, 0) == 3);
  CHECK(copies("1F1B", {3, 1, 6}, 2) == 1);
  CHECK(copies("1F1B", {2, 2, 4}, 1) == 3);
  CHECK(copies("1F1B", {1, 1, 1}, 0) == 1);
}

TEST_CASE("what cannot be expanded says why") {
  std::string why;
  CHECK_FALSE(expand("VPP", {2, 1, 2}, why));
  CHECK_THAT(why, Catch::Contains("VPP") && Catch::Contains("1F1B"));
  CHECK_FALSE(expand("1F1B", {2, 2, 3}, why));
  CHECK_THAT(why, Catch::Contains("divide"));
  CHECK_FALSE(expand("1F1B", {2, 1, 0}, why));
  CHECK(Shape{INT64_MAX, 2, 2}.entries() == INT64_MAX);
}

}  // namespace dtranspile::schedule
