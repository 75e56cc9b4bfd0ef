#include "runtime/exec/plan.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "test/runtime/exec/plan_text.h"

namespace dtranspile::exec {
namespace {

std::string MessageOf(const Json& plan) {
  const auto result = ParsePlan("plan.json", plan.dump());
  return std::string(result.status().message());
}

// The message for a plan in which the value at `pointer` is another one; "" removes nothing,
// kRemoved removes it.
const char kRemoved[] = "__removed__";
std::string With(const char* pointer, Json value) {
  Json plan = PlanJson();
  const Json::json_pointer at(pointer);
  if (value == kRemoved) plan[at.parent_pointer()].erase(at.back());
  else plan[at] = std::move(value);
  return MessageOf(plan);
}

Json Start(int comm, const char* kind, std::vector<int> inputs, std::vector<int> outputs,
           int ticket) {
  return {
      {"start", kind},    {"comm", comm},       {"reduce", "sum"},  {"root", 0},
      {"inputs", inputs}, {"outputs", outputs}, {"ticket", ticket}, {"op", "0:9 c_allreduce_sum"}};
}

std::string WithBody(std::vector<Json> body) {
  Json plan = PlanJson();
  plan["comms"] = Json::array({{{"name", "grad"}, {"axes", {"dp"}}}});
  plan["programs"]["main"]["body"] = body;
  return MessageOf(plan);
}

}  // namespace

TEST_CASE("a plan is read") {
  const auto plan = ParsePlan("plan.json", PlanJson().dump());
  INFO(plan.status().ToString());
  REQUIRE(plan.ok());
  CHECK(plan->buffers.size() == 7);
  CHECK(plan->buffers[5].data == std::string("\0\0\0\x40", 4));
  CHECK(plan->step().name == "main");
  REQUIRE(plan->step().body.size() == 2);
  REQUIRE(plan->step().body[0].as<CallNode>());
  CHECK(plan->step().body[0].as<CallNode>()->strings == std::vector<std::string>{"sum"});
  CHECK(plan->step().body[1].as<KernelNode>()->rows == 4);
  CHECK(plan->step().feeds[0].split->axes == std::vector<std::string>{"dp"});
  CHECK(plan->startup()->name == "startup");
  CHECK(plan->persistables[0].parameter);
}

TEST_CASE("a plan that is wrong is refused with its place") {
  struct Row {
    const char* pointer;
    Json value;
    const char* message;
  };
  const Row rows[] = {
      {"/schema", 1, "schema: this runtime reads plans of schema 4; compile the job again"},
      {"/abi", DT_ABI_VERSION - 1, "abi: compiled for version"},
      {"/abi", kRemoved, "key 'abi' is missing"},
      {"/surprise", 1, "unknown key 'surprise'"},
      {"/class", kRemoved, "key 'class' is missing"},
      {"/class", 7, "class: expected a string, got number"},
      {"/library", "../x.so", "own folder"},
      {"/library", nullptr, "the plan has no library"},
      {"/target/cpu", kRemoved, "target: key 'cpu' is missing"},
      {"/buffers/2/memory", "device", "buffers[2].memory: 'x' is not in host memory"},
      {"/buffers/2/memory", "pinned", "buffers[2]: 'x' ends at byte 16 of a block of 0"},
      {"/buffers/0/memory", "pinned", "is not in host memory"},
      {"/buffers/2/memory", "attic", "unknown 'attic', expected one of host, device, pinned"},
      {"/buffers/2/space", "moon",
       "buffers[2].space: unknown 'moon', expected one of arena, persistent, constant"},
      {"/buffers/2/offset", 32, "buffers[2].offset: not a multiple of 64"},
      {"/buffers/2/offset", -64, "at least 0"},
      {"/buffers/2/offset", 192, "buffers[2]: 'x' ends at byte 208 of a block of 192"},
      {"/buffers/2/bytes", 12, "'x' is float32[4], 16 bytes, not 12"},
      {"/buffers/2/dims", Json{1LL << 62, 1LL << 62}, "buffers[2]"},
      {"/buffers/2/dims", Json{-4}, "buffers[2].dims[0]: expected an integer of at least 0"},
      {"/buffers/2/dims", Json{4.5}, "expected an integer"},
      {"/buffers/2/dtype", "float31", "unknown element type 'float31'"},
      {"/buffers/2/lod_level", 1, "unknown key 'lod_level'"},
      {"/buffers/5/data", "0000", "expected 8 hexadecimal digits"},
      {"/buffers/5/data", "0000004z", "expected hexadecimal digits"},
      {"/arena_bytes", 1LL << 60, "arena_bytes: expected an integer"},
      {"/persistables/0/buffer", 9,
       "persistables[0].buffer: expected an integer of at least 0 and at most 6"},
      {"/persistables/0/buffer", 2, "not in persistent memory"},
      {"/persistables/1/name", "w", "'w' occurs twice"},
      {"/persistables/1/begins_as", "v", "'v' is no other persistable of the plan"},
      {"/persistables/1/begins_as", "rate", "'rate' is no other persistable of the plan"},
      {"/persistables/1/begins_as", "w", "'w' is of another type or of other extents"},
      {"/persistables/0/relation", Json{{"dp", 1}}, "relation: expected strings"},
      {"/programs/main/feeds/0/buffer", 5, "feeds[0]"},
      {"/programs/main/feeds/0/split/dim", 1, "dimension 1 of 1"},
      {"/programs/main/fetches/0/combine", "blend", "unknown 'blend'"},
      {"/programs/main/body/1/args/0", 70, "programs.main.body[1].args[0]: expected an integer"},
      {"/programs/main/body/1/n", -1, "body[1].n"},
      {"/programs/main/body/1/grain", 0, "body[1].grain"},
      {"/programs/main/body/1/op", kRemoved, "key 'op' is missing"},
      {"/programs/main/body/1/extra", 1, "unknown key 'extra'"},
      {"/programs/main/body/0", Json{{"op", "x"}}, "a node needs one of the keys"},
      {"/programs/main/body/0", 3, "expected an object"},
      {"/programs/main", kRemoved, "programs: none runs in every step"},
      {"/programs/startup/when", "step", "programs.startup.when: another program runs then, too"},
      {"/programs/main/when", "noon", "unknown 'noon', expected one of startup, step"},
      {"/programs/main/body/1/args/0", 7, "expected an integer of at least 0 and at most 6"},
      {"/programs/main/body/0/written", Json{2}, "body[0].written: no such argument"},
      {"/programs/main/body/0/attrs", Json{"i1"}, "body[0].attrs: expected i, r or s"},
      {"/programs/main/body/0/slots", Json{0, 2, 1}, "body[0].slots: expected rising bounds"},
      {"/programs/main/body/0/reals", Json{"much"}, "reals[0]: expected a number"},
      {"/programs/startup/body/1/copy", Json{5, 0}, "'two' has 4 bytes, 'w' 16"},
      {"/programs/startup/body/1/copy", Json{1, 5}, "constant 'two' would be written"},
      {"/programs/startup/body/1/copy", Json{1}, "expected [from, to]"},
  };
  for (const Row& row : rows) {
    const std::string message = With(row.pointer, row.value);
    INFO(row.pointer << " -> " << message);
    CHECK(message.find(row.message) != std::string::npos);
  }
}

TEST_CASE("a plan that is written is the plan that is read") {
  Json json = PlanJson();
  json["comms"] = Json::array({{{"name", "grad"}, {"axes", {"dp"}}}});
  json["buffers"].push_back({{"name", "words"},
                             {"space", "value"},
                             {"kind", "tensor"},
                             {"dtype", "float32"},
                             {"dims", {-1, 4}},
                             {"lod_level", 1}});
  Json unknown = {
      {"kernel", "k_any"}, {"args", {7, 7, 0}}, {"n", 0}, {"grain", 8}, {"op", "0:3 relu"}};
  unknown["written"] = {1};
  unknown["updated"] = {1};
  unknown["unknown"] = {{"shapes", {{-1, 4}, {-1, 4}, Json::array()}},
                        {"table", {{{"factor", 4}, {"unknowns", {0}}}}},
                        {"rows", {{"factor", 1}, {"unknowns", {0}}}},
                        {"needs", {{"factor", 1}, {"unknowns", Json::array()}}}};
  Json& body = json["programs"]["main"]["body"];
  body.push_back(unknown);
  body.push_back(Start(0, "all_reduce", {0}, {0}, 3));
  body.push_back({{"wait", 3}, {"op", "0:9 wait"}});
  body.push_back(
      {{"while", 4},
       {"limit", 7},
       {"body", {{{"if", 4}, {"then", {body[0]}}, {"else", Json::array()}, {"op", "if"}}}},
       {"op", "while"}});
  body.push_back({{"call", "dt_any"},
                  {"args", {0, 1}},
                  {"slots", {0, 1, 1, 2}},
                  {"attrs", {"i2", "r3"}},
                  {"ints", {1, -2}},
                  {"reals", {0.1, "nan", "-inf"}},
                  {"written", {1}},
                  {"op", "0:8 any"}});
  const auto plan = ParsePlan("plan.json", json.dump());
  INFO(plan.status().ToString());
  REQUIRE(plan.ok());
  const CallNode& call = *plan->step().body.back().as<CallNode>();
  CHECK((call.reals[0] == 0.1 && std::isnan(call.reals[1]) && call.reals[2] == -INFINITY));
  CHECK((call.attributes()[1].kind == 'r' && call.attributes()[1].count == 3));
  const auto text = WritePlan(*plan);
  REQUIRE(text.ok());
  const auto again = ParsePlan("again", *text);
  INFO(again.status().ToString());
  REQUIRE(again.ok());
  CHECK(*WritePlan(*again) == *text);
  // What a reader may leave out is left out, the rest is there.
  Json expected = json;
  expected["programs"]["main"]["body"][3].erase("reduce");
  expected["programs"]["main"]["body"][3].erase("root");
  expected["target"]["device"] = "cpu";
  CHECK(Json::parse(*text) == expected);
}

namespace {

Json LayoutJson(const char* kind, int64_t n, int64_t per = 0) {
  Json json = {{"kind", kind}, {"axes", {"dp"}}, {"dim", 0}, {"extent", n}, {"whole", {n}}};
  if (per > 0) json["per"] = per;
  return json;
}

// A plan with one node of each kind that a job of several programs has.
Json JobPlanJson() {
  Json json = PlanJson();
  json["role"] = "trainer";
  json["comms"] =
      Json::array({{{"name", "grad"}, {"axes", {"dp"}}, {"subset", {{"dp", {0, 2}}}}},
                   {{"name", "next"}, {"axes", {"pp"}}, {"kind", "pairs"}},
                   {{"name", "ps"}, {"axes", {"dp"}}, {"kind", "rpc"}, {"server", "server"}}});
  Json& buffers = json["buffers"];
  buffers.push_back(BufferJson("at", "arena", 192, "int64", {1}, 8));
  buffers.push_back(BufferJson("stash", "arena", 256, "float32", {2}, 8));
  buffers[8]["stride"] = 64;
  buffers[8]["instances"] = 2;
  json["arena_bytes"] = 384;
  json["persistables"][0]["at"] = {{"dp", {0, 1, 3, 4}}};
  json["persistables"][1]["layout"] = LayoutJson("cyclic", 3);
  json["programs"]["main"]["fetches"][0]["at"] = {{"pp", {1, 2}}};
  const Json none = Json::array();
  const Json copy = {{"copy", {5, 1}}, {"op", "0:1 assign"}};
  const Json coord = {{"coord", "micro"}, {"to", 7}, {"op", "0:2 coord"}};
  const Json slice = {{"slice", {2, 8}}, {"layout", LayoutJson("even", 4)}, {"op", "0:3 slice"}};
  const Json send = {
      {"start", "send"},          {"comm", 1},   {"root", 1},           {"inputs", {8}},
      {"outputs", Json::array()}, {"ticket", 5}, {"op", "0:4 transfer"}};
  json["programs"]["main"]["body"] = Json::array(
      {{{"at", {{"dp", {1, 3}}}}, {"body", {copy}}, {"else", none}, {"op", "0:5 on"}},
       {{"micro", "micro"},
        {"micros", 2},
        {"instances", 2},
        {"tasks",
         {{{"name", "F"}, {"body", {coord, slice, send}}}, {{"name", "B"}, {"body", none}}}},
        {"order", {{0, 0}, {1, 0}, {0, 1}, {1, 1}}},
        {"op", "0:6 micro"}},
       {{"blocks", LayoutJson("blocks", 4, 3)},
        {"bodies", {{{"extent", 3}, {"body", {copy}}}, {{"extent", 1}, {"body", none}}}},
        {"op", "0:7 foreach_block"}},
       {{"push", "w"},
        {"comm", 2},
        {"from", 2},
        {"merge", "mean"},
        {"layout", LayoutJson("hashed", 4, 2)},
        {"op", "0:8 push"}},
       {{"phase", "push"}, {"comm", 2}, {"op", "0:9 phase"}},
       {{"pull", "w"}, {"comm", 2}, {"to", 2}, {"op", "0:10 pull"}},
       {{"lookup", "w"}, {"comm", 2}, {"ids", 7}, {"to", 3}, {"op", "0:11 lookup"}}});
  return json;
}

}  // namespace

TEST_CASE("a plan of a job of several programs is written as it is read") {
  Json json = JobPlanJson();
  json["target"]["device"] = "cpu";
  const auto plan = ParsePlan("plan.json", json.dump());
  INFO(plan.status().ToString());
  REQUIRE(plan.ok());
  CHECK(Json::parse(*WritePlan(*plan)) == json);

  // A server's plan has programs of rounds and requests, and none of every step.
  const Json merged = {{"merged", "w"}, {"to", 2}, {"op", "0:1 merged"}};
  const Json none = Json::array();
  json["programs"]["main"] = {{"when", "round"},
                              {"arguments", none},
                              {"feeds", none},
                              {"fetches", none},
                              {"body", {merged}}};
  json["programs"]["push w"] = {{"when", "push"}, {"table", "w"},    {"arguments", {2, 7}},
                                {"feeds", none},  {"fetches", none}, {"body", none}};
  const auto server = ParsePlan("plan.json", json.dump());
  INFO(server.status().ToString());
  REQUIRE(server.ok());
  CHECK(server->serves());
  CHECK(Json::parse(*WritePlan(*server)) == json);
}

TEST_CASE("guards, parts, micro-batches, blocks and requests of a hostile plan are checked") {
  const auto message = [](const char* pointer, Json value) {
    Json json = JobPlanJson();
    json[Json::json_pointer(pointer)] = std::move(value);
    return MessageOf(json);
  };
  const std::string body = "/programs/main/body/";
  struct Row {
    std::string pointer;
    Json value;
    const char* message;
  };
  const Row rows[] = {
      {"/persistables/0/at/dp", {2, 1}, "persistables[0].at: axis 'dp': expected rising bounds"},
      {"/persistables/0/at/dp", Json{1}, "expected rising bounds lo, hi"},
      {"/persistables/1/layout/axes", Json::array(), "layout.axes: expected an axis"},
      {"/persistables/1/layout/extent", 4, "layout.extent: the tensor has 3 there, not 4"},
      {"/buffers/8/stride", 32, "buffers[8].stride: not a multiple of 64"},
      {"/buffers/8/instances", 9, "'stash' ends at byte 776 of a block of 384"},
      {body + "0/at/dp", {3, 3}, "body[0].at: axis 'dp': expected rising bounds"},
      {body + "1/tasks/0/body/0/to", 3, "body[0].to: 'loss' is no int64 of one element"},
      {body + "1/tasks/0/body/1/layout/whole", {4, 1}, "'x' is float32[4], which the layout"},
      {body + "1/order/3", {2, 1}, "body[1].order[3]: expected [task, micro-batch]"},
      {body + "1/order/3", {1, 2}, "body[1].order[3]: expected [task, micro-batch]"},
      {body + "1/tasks/1/body",
       {JobPlanJson()["programs"]["main"]["body"][1]},
       "micro-batches in micro-batches"},
      {body + "1/tasks/1/body",
       {JobPlanJson()["programs"]["main"]["body"][2]},
       "blocks in micro-batches"},
      {body + "2/blocks/per", 0, "blocks.per: expected an extent of at least 1"},
      {body + "2/blocks/dim", 1, "blocks.dim: dimension 1 of 1"},
      {body + "3/comm", 0, "comm: no communicator with servers"},
      {body + "3/layout/whole", {2, 2}, "the tensor has 2 there, not 4"},
      {body + "5/to", 5, "constant 'two' would be written"},
  };
  for (const Row& row : rows) {
    const std::string text = message(row.pointer.c_str(), row.value);
    INFO(row.pointer << " -> " << text);
    CHECK(text.find(row.message) != std::string::npos);
  }
  Json many = JobPlanJson();
  many["programs"]["main"]["body"][3]["layout"] = LayoutJson("hashed", int64_t{1} << 40, 1);
  CHECK(MessageOf(many).find("more than 16777216 blocks") != std::string::npos);
}

TEST_CASE("names that are no UTF-8 are not written") {
  auto plan = ParsePlan("plan.json", PlanJson().dump());
  REQUIRE(plan.ok());
  plan->buffers[0].name = "\xff";
  CHECK_THAT(std::string(WritePlan(*plan).status().message()),
             Catch::Contains("cannot be written"));
}

TEST_CASE("kernels and calls of a hostile plan are checked against its buffers") {
  Json json = PlanJson();
  json["buffers"].push_back({{"name", "words"},
                             {"space", "value"},
                             {"kind", "tensor"},
                             {"dtype", "bool"},
                             {"dims", {1}},
                             {"lod_level", 0}});
  Json& body = json["programs"]["main"]["body"];
  const auto message = [&](Json node) {
    node["op"] = "0:9 x";
    body = Json::array({node});
    return MessageOf(json);
  };
  CHECK_THAT(message({{"kernel", "k"}, {"args", {7}}, {"n", 1}, {"grain", 1}}),
             Catch::Contains("body[0].args[0]: 'words' is a value"));
  CHECK_THAT(message({{"if", 7}, {"then", Json::array()}, {"else", Json::array()}}),
             Catch::Contains("'words' is no bool of one element"));
  const auto unknown = [&](Json shapes, Json written, Json rows) {
    return message({{"kernel", "k"},
                    {"args", {7}},
                    {"n", 1},
                    {"grain", 1},
                    {"written", written},
                    {"unknown",
                     {{"shapes", shapes},
                      {"table", Json::array()},
                      {"rows", rows},
                      {"needs", {{"factor", 1}, {"unknowns", Json::array()}}}}}});
  };
  const Json none = {{"factor", 1}, {"unknowns", Json::array()}};
  const auto list = [](Json item) { return Json::array({item}); };
  CHECK(unknown(list(Json{-1}), Json::array(), none).empty());
  CHECK_THAT(unknown(Json::array(), Json::array(), none), Catch::Contains("a shape for each"));
  CHECK_THAT(unknown(list(Json::array()), Json::array(), none), Catch::Contains("does not fit"));
  CHECK_THAT(unknown(list(Json{-1}), list(0), none), Catch::Contains("that of no argument"));
  CHECK_THAT(unknown(list(Json{-2}), Json::array(), none), Catch::Contains("that of no argument"));
  CHECK_THAT(unknown(list(Json{-17}), Json::array(), none), Catch::Contains("more than 16"));
  CHECK_THAT(unknown(list(Json{-1}), Json::array(), {{"factor", 1}, {"unknowns", {1}}}),
             Catch::Contains("no such unknown extent"));
}

TEST_CASE("operations between ranks are checked") {
  const Json wait = {{"wait", 3}, {"op", "0:9 wait"}};
  const auto has = [](const std::string& message, const char* part) {
    INFO(message);
    CHECK(message.find(part) != std::string::npos);
  };
  CHECK(WithBody({Start(0, "all_reduce", {0}, {0}, 3), wait}).empty());
  has(WithBody({Start(1, "all_reduce", {0}, {0}, 3), wait}), "body[0].comm");
  has(WithBody({Start(0, "all_redo", {0}, {0}, 3), wait}), "unknown 'all_redo'");
  has(WithBody({Start(0, "all_reduce", {0}, {}, 3), wait}), "1 inputs and 0 outputs");
  has(WithBody({Start(0, "all_reduce", {0}, {5}, 3), wait}), "constant 'two' would be written");
  has(WithBody({Start(0, "all_reduce", {0, 6}, {0, 6}, 3), wait}),
      "'w' is float32, 'counter' is int32");
  has(WithBody({Start(0, "send", {0}, {0}, 3), wait}), "1 inputs and 1 outputs");
  has(WithBody({Start(0, "all_reduce", {0}, {0}, 3)}), "nothing in this body waits for ticket 3");
  has(WithBody({wait}), "waits for ticket 3, which is not pending here");
  has(WithBody({Start(0, "barrier", {}, {}, 3), wait, wait}), "not pending here");
  has(WithBody({Start(0, "barrier", {}, {}, 3), Start(0, "barrier", {}, {}, 3), wait}),
      "3 was started before");
}

TEST_CASE("of values only sums are exchanged, one by one") {
  const auto message = [](const char* kind, const char* reduce, const char* to) {
    Json plan = PlanJson();
    plan["comms"] = Json::array({{{"name", "grad"}, {"axes", {"dp"}}}});
    for (const char* value : {"rows", "tensor"}) {
      Json buffer = {{"name", value},   {"space", "value"}, {"dtype", "float32"},
                     {"dims", {-1, 4}}, {"lod_level", 0},   {"kind", value}};
      plan["buffers"].push_back(buffer);
    }
    Json start = Start(0, kind, {7}, {std::string(to) == "rows" ? 7 : 8}, 3);
    start["reduce"] = reduce;
    plan["programs"]["main"]["body"] = {start, {{"wait", 3}, {"op", "0:9 wait"}}};
    return MessageOf(plan);
  };
  CHECK(message("all_reduce", "sum", "rows").empty());
  CHECK_THAT(message("all_reduce", "max", "rows"),
             Catch::Contains("'rows' is a value: all_reduce and all_gather take one at a time"));
  CHECK_THAT(message("all_reduce", "sum", "tensor"), Catch::Contains("'tensor' is a value"));
  CHECK(message("all_gather", "sum", "rows").empty());
  CHECK_THAT(message("broadcast", "sum", "rows"), Catch::Contains("'rows' is a value"));
}

TEST_CASE("conditions are bools and nesting has an end") {
  Json nested = {{"while", 4}, {"body", Json::array()}, {"limit", 1}, {"op", "0:0 while"}};
  for (int i = 0; i < 100; ++i)
    nested = {
        {"if", 4}, {"then", Json::array({nested})}, {"else", Json::array()}, {"op", "0:0 cond"}};
  CHECK(WithBody({nested}).find("nested deeper than 64") != std::string::npos);
  const Json wrong = {
      {"if", 3}, {"then", Json::array()}, {"else", Json::array()}, {"op", "0:0 cond"}};
  CHECK(WithBody({wrong}).find("'loss' is no bool of one element") != std::string::npos);
}

TEST_CASE("what is no JSON, or none of ours, is refused") {
  CHECK(ParsePlan("p", "{").status().message().find("p: is no legal JSON") != std::string::npos);
  CHECK(ParsePlan("p", "[]").status().message().find("expected an object") != std::string::npos);
  CHECK(ParsePlan("p", "").status().message().find("p: is no legal JSON") != std::string::npos);
  CHECK(ReadPlan("/nonexistent")
            .status()
            .message()
            .find("/nonexistent/plan.json: opening: No such file") != std::string::npos);
  CHECK(ParsePlan("p", R"({"schema": 1, "schema": 2})")
            .status()
            .message()
            .find("the key 'schema' twice") != std::string::npos);
}

}  // namespace dtranspile::exec
