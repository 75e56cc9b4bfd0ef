// What is said of plans and values that do not fit: the place in the plan, and the whole sentence.
#include <catch2/catch.hpp>

#include "runtime/exec/context.h"
#include "runtime/exec/layout.h"
#include "runtime/exec/plan.h"
#include "runtime/exec/unknown_extents.h"
#include "test/runtime/exec/plan_text.h"

namespace dtranspile::exec {
namespace {

using Catch::Contains;

struct Change {
  const char* pointer;
  Json value;
};

std::string MessageWith(const std::vector<Change>& changes) {
  Json plan = PlanJson();
  plan["comms"] = Json::array(
      {{{"name", "grad"}, {"axes", {"dp"}}}, {{"name", "ps"}, {"axes", {"dp"}}, {"kind", "rpc"}}});
  for (const Change& change : changes) plan[Json::json_pointer(change.pointer)] = change.value;
  return std::string(ParsePlan("plan.json", plan.dump()).status().message());
}

Json LayoutJson(const char* kind, int64_t dim, int64_t extent, std::vector<int64_t> whole) {
  return {{"kind", kind},     {"axes", {"dp"}}, {"dim", dim},
          {"extent", extent}, {"per", 2},       {"whole", whole}};
}

Json ValueJson(const char* name, const char* kind, std::vector<int64_t> dims) {
  return {{"name", name},       {"space", "value"}, {"kind", kind},
          {"dtype", "float32"}, {"dims", dims},     {"lod_level", 0}};
}

// The kernel of the plan with unknown extents: shapes of `w`, `x` (a value), `rate`.
Json UnknownJson(Json shapes) {
  const Json one = {{"factor", 1}, {"unknowns", Json::array()}};
  return {{"shapes", std::move(shapes)}, {"table", Json::array()}, {"rows", one}, {"needs", one}};
}

const char kBody[] = "/programs/main/body";

}  // namespace

TEST_CASE("wrong plans are refused with place and reason") {
  const Json rows = ValueJson("x", "rows", {-1}), none = Json::array();
  const Json start = {{"start", "all_reduce"},
                      {"inputs", {0}},
                      {"outputs", {0}},
                      {"ticket", 0},
                      {"op", "0:1 all_reduce"}};
  const auto on = [](Json node, int comm) { return node["comm"] = comm, Json::array({node}); };
  const Json push = {
      {"push", "w"}, {"comm", 1}, {"from", 2}, {"merge", "mean"}, {"op", "0:1 push"}};
  const Json pull = {{"pull", "w"}, {"comm", 1}, {"to", 0}, {"op", "0:1 pull"}};
  const Json lookup = {{"lookup", "w"}, {"comm", 1}, {"ids", 2}, {"to", 0}, {"op", "0:1 lookup"}};
  const auto with = [](Json node, Json layout) {
    return node["layout"] = std::move(layout), Json::array({node});
  };
  const Json slice = {{"slice", {2, 0}}, {"op", "0:1 slice"}};
  const Json ids = {{"name", "ids"}, {"space", "arena"}, {"offset", 0},
                    {"bytes", 32},   {"dims", {4}},      {"dtype", "int64"}};
  struct Case {
    std::vector<Change> changes;
    const char* message;
  };
  const Case kCases[] = {
      {{{"/library", "../x.so"}}, "plan.json: library: expected a file of the plan's own folder"},
      {{{"/buffers/2/stride", int64_t{1} << 47}, {"/buffers/2/instances", 1 << 30}},
       "buffers[2]: 'x' is larger than any memory"},
      {{{"/programs/main/feeds/0/buffer", 5}}, "programs.main.feeds[0]: a constant cannot be fed"},
      {{{"/programs/main/fetches/0/combine", "blend"}},
       "programs.main.fetches[0].combine: unknown 'blend', expected one of mean, same, sum, "
       "concat, list"},
      {{{"/buffers/2", ValueJson("x", "tensor", {-1})}},
       "programs.main.body[1].args[1]: 'x' is a value, and the kernel reads no extents"},
      {{{"/buffers/2", ValueJson("x", "tensor", {-1})},
        {"/programs/main/body/1/unknown", UnknownJson({none, Json{-9000}, none})}},
       "body[1].unknown.shapes[1]: more than "},
      {{{"/programs/main/body/0/slots", {0, 5}}},
       "body[0].slots: expected rising bounds from 0 to the number of arguments"},
      {{{"/programs/main/body/0/slots", {0, 1, 2}}, {"/programs/main/body/0/attrs", {"q1"}}},
       "body[0].attrs: expected i, r or s and a number of values, not more than there are"},
      {{{"/programs/main/body/0/reals", {"much"}}},
       "body[0].reals[0]: expected a number, got string"},
      {{{kBody, on(start, 7)}}, "programs.main.body[0].comm: no such communicator"},
      {{{kBody, on(start, 1)}},
       "programs.main.body[0].comm: servers are asked by push, pull and lookup only"},
      {{{kBody, with(slice, LayoutJson("blocks", 1, 4, {1, 4}))}},
       "body[0].layout.dim: blocks and cyclic parts are of dimension 0 or of the flattened "
       "tensor"},
      {{{kBody, with(slice, LayoutJson("even", 0, 4, {4}))},
        {"/programs/main/body/0/layout/also", {1}}},
       "body[0].layout.also: further dims are cut evenly, each into a number of parts"},
      {{{kBody, with(slice, LayoutJson("blocks", 0, 4, {4, 2}))},
        {"/programs/main/body/0/layout/also", {1}},
        {"/programs/main/body/0/layout/also_parts", {2}}},
       "body[0].layout.also: further dims are cut evenly, each into a number of parts"},
      {{{kBody, with(slice, LayoutJson("even", 0, 4, {4, 2}))},
        {"/programs/main/body/0/layout/also", {0}},
        {"/programs/main/body/0/layout/also_parts", {2}}},
       "body[0].layout.also: dimension 0 after another one, of 2"},
      {{{kBody, with(slice, LayoutJson("blocks", 0, 4, {4, 2}))},
        {"/programs/main/body/0/layout/flat_parts", 2}},
       "body[0].layout.flat_parts: what is cut flat as well is cut evenly along a dim"},
      {{{kBody, with(slice, LayoutJson("even", 0, 8, {8}))}},
       "body[0].slice: 'x' is float32[4], which the layout does not fit"},
      {{{kBody, with(pull, LayoutJson("even", 0, 8, {8}))}},
       "body[0]: 'w' is float32[4], which the layout of the table does not fit"},
      {{{"/buffers/2", rows}, {kBody, with(push, LayoutJson("even", -1, 8, {4, 2}))}},
       "body[0].layout: rows are cut along dimension 0"},
      {{{"/buffers/2", ids}, {kBody, with(lookup, LayoutJson("even", -1, 8, {4, 2}))}},
       "body[0].layout: rows are cut along dimension 0"},
  };
  for (const Case& c : kCases) CHECK_THAT(MessageWith(c.changes), Contains(c.message));
}

TEST_CASE("extents that are known only when a kernel runs have to agree") {
  UnknownExtents unknown;
  unknown.shapes = {{-1, 4}, {-1}}, unknown.written = {false, false};
  unknown.count = 1, unknown.rows.factor = 1, unknown.needs.factor = 1;
  Value x, y;
  const std::string names[] = {"x", "y"};
  BoundExtents bound;
  const auto said = [&] {
    return std::string(BindExtents(unknown, {{&x, &names[0]}, {&y, &names[1]}}, bound).message());
  };
  REQUIRE((x.Resize({3, 4}).ok() && y.Resize({3}).ok()));
  CHECK(said().empty());
  REQUIRE(y.Resize({2}).ok());
  CHECK(said() == "'y' is float32[2]: extent 0 has to be 3 beside the other arguments");
  REQUIRE(y.Resize({3, 1}).ok());
  CHECK(said() == "'y' is float32[3, 1], expected 1 dims");
  REQUIRE((x.Resize({0, 4}).ok() && y.Resize({0}).ok()));
  unknown.needs.unknowns = {0};
  CHECK(said() == "a mean, maximum or minimum of no elements has no value: 'x' is float32[0, 4]");
  REQUIRE((x.Resize({3, 4}).ok() && y.Resize({3}).ok()));
  unknown.rows.factor = INT64_MAX, unknown.rows.unknowns = {0};
  CHECK(said() == "a product of extents overflows");
}

TEST_CASE("places along axes are counted in 63 bits") {
  Position position;
  for (const char* axis : {"a", "b", "c"})
    position.mesh[axis] = int64_t{1} << 31, position.coordinates[axis] = 0;
  CHECK(PlaceOf({"a", "b"}, position).ok());
  CHECK(PlaceOf({"a", "b", "c"}, position).status().message() == "more parts than 2^63 along 'c'");
  CHECK(PlaceOf({"d"}, position).status().message() == "axis 'd' is none of this rank's mesh");
}

TEST_CASE("calls that fail say of which function, also without a word") {
  ThreadPool pool({1, false});
  DtContext context(&pool);
  DtCall call = {};
  call.name = "dt_x";
  const auto said = [&](DtFunction function) {
    return std::string(context.Call(function, call).message());
  };
  CHECK(said([](DtContext*, const DtCall*) { return 1; }) == "dt_x: failed without a message");
  CHECK(said([](DtContext* c, const DtCall*) { return dt_fail(c, "no %s", "way"); }) ==
        "dt_x: no way");
  CHECK(said([](DtContext*, const DtCall*) -> int32_t { throw std::bad_alloc(); }) ==
        "dt_x: no memory is left");
  CHECK(said([](DtContext*, const DtCall*) -> int32_t { throw std::length_error(""); }) ==
        "dt_x: more elements than memory holds");
}

}  // namespace dtranspile::exec
