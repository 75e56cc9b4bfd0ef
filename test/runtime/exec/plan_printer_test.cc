#include "runtime/exec/plan_printer.h"

#include <catch2/catch.hpp>

#include "test/runtime/exec/plan_text.h"

namespace dtranspile::exec {
namespace {

std::string TextOf(const Json& json, const PlanTextOptions& options) {
  const auto plan = ParsePlan("plan.json", json.dump());
  INFO(plan.status().ToString());
  REQUIRE(plan.ok());
  return PlanText(*plan, options);
}

}  // namespace

TEST_CASE("a plan as text: programs, feeds, nodes with what they read and write, fetches") {
  Json json = PlanJson();
  json["programs"]["main"]["body"][1]["op"] = "sgd of `w` (block 0, op 2)";
  json["programs"]["startup"]["body"][0]["op"] = "fill_constant of `w`";
  CHECK(TextOf(json, {.positions = true}) ==
        "plan of trainer: 192 bytes of a step, 192 bytes of persistables\n"
        "program main\n"
        "  feed x: float32[4]\n"
        "  call dt_test_reduce(w float32[4]; 'sum') -> loss float32[1]  # 0:1 reduce_sum\n"
        "  kernel sgd(w float32[4], x float32[4], rate float32[1]) -> w float32[4]  # sgd of `w` "
        "(block 0, op 2)\n"
        "  fetch loss: float32[1]\n"
        "  fetch w_after: float32[4]\n"
        "program startup\n"
        "  kernel fill_constant(two float32[1]) -> w float32[4]  # fill_constant of `w`\n"
        "  copy two float32[1] -> rate float32[1]  # 0:1 assign\n");
}

TEST_CASE("nodes of every other kind are printed field by field, bodies indented") {
  Json json = PlanJson();
  json["comms"] = Json::array({{{"name", "grad"}, {"axes", {"dp"}}}});
  json["buffers"].push_back(BufferJson("loss", "arena", 64, "float32", {}, 4));
  json["buffers"].push_back(BufferJson("place", "arena", 128, "int64", {1}, 8));
  const Json copy = {{"copy", {5, 3}}, {"op", "assign"}};
  const Json view = {{"copy", {7, 1}}, {"op", "assign"}};
  const Json layout = {
      {"kind", "even"}, {"axes", {"dp"}}, {"dim", 0}, {"extent", 4}, {"whole", {4}}};
  json["programs"]["main"]["body"] = Json::array({
      {{"start", "all_reduce"},
       {"comm", 0},
       {"inputs", {2}},
       {"outputs", {2}},
       {"ticket", 3},
       {"op", "sum"}},
      {{"wait", 3}, {"op", "sum"}},
      {{"if", 4}, {"then", {copy}}, {"else", {view}}, {"op", "conditional_block"}},
      {{"while", 4}, {"limit", 7}, {"body", {copy}}, {"op", "while"}},
      {{"at", {{"dp", {0, 1, 2, 3}}}}, {"body", {copy}}, {"else", Json::array()}, {"op", "at"}},
      {{"coord", "dp"}, {"to", 8}, {"op", "coordinate"}},
      {{"micro", "pp"},
       {"micros", 2},
       {"instances", 1},
       {"tasks", {{{"name", "F"}, {"body", {copy}}}, {{"name", "B"}, {"body", {copy}}}}},
       {"order", {{0, 0}, {0, 1}, {1, 0}, {1, 1}}},
       {"op", "micro"}},
      {{"slice", {2, 0}}, {"layout", layout}, {"op", "part"}},
  });
  const std::string text = TextOf(json, {});
  CHECK_THAT(
      text,
      Catch::Contains(
          "  start all_reduce comm 0 inputs x float32[4] outputs x float32[4] ticket 3\n"
          "  wait 3\n"
          "  if flag bool[1] {\n"
          "    copy two float32[1] -> loss float32[1]\n"
          "  } else {\n"
          "    copy loss#1 float32[] of loss -> rate float32[1]\n"
          "  }\n"
          "  while flag bool[1] limit 7 {\n"
          "    copy two float32[1] -> loss float32[1]\n"
          "  }\n"
          "  at dp 0:1:2:3 {\n"
          "    copy two float32[1] -> loss float32[1]\n"
          "  }\n"
          "  coord dp to place int64[1]\n"
          "  micro pp micros 2 instances 1 order 0:0, 0:1, 1:0, 1:1 {\n"
          "    F {\n"
          "      copy two float32[1] -> loss float32[1]\n"
          "    }\n"
          "    B {\n"
          "      copy two float32[1] -> loss float32[1]\n"
          "    }\n"
          "  }\n"
          "  slice x float32[4] -> w float32[4] layout (even axes dp dim 0 extent 4 whole 4)\n"));
}

TEST_CASE("slots without an argument, attributes, and the source of kernels where it is given") {
  Json json = PlanJson();
  Json& body = json["programs"]["main"]["body"];
  body = Json::array({body[1],
                      {{"call", "dt_any"},
                       {"args", {0, 1}},
                       {"slots", {0, 1, 1, 2, 2}},
                       {"attrs", {"i2", "r1", "s1"}},
                       {"ints", {1, -2}},
                       {"reals", {0.5}},
                       {"strings", {"sum"}},
                       {"written", {1}},
                       {"op", "0:8 any"}}});
  const std::string text =
      TextOf(json, {.kernel = [](const std::string& symbol) { return "source of " + symbol; }});
  CHECK_THAT(text, Catch::Contains(
                       "source of k_update\n"
                       "  call dt_any(w float32[4], -; 1 -2 0.5 'sum') -> rate float32[1], -\n"));
}

}  // namespace dtranspile::exec
