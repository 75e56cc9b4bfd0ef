// What the lowering refuses, and the shape of the plans it makes; programs as text.
#include "test/compiler/lower/text_program.h"

namespace dtranspile::lower {
namespace {

using nlohmann::json;

// Nodes of the body by their first key: "kernel", "copy", "start" …
std::vector<std::string> kinds(const json& plan) {
  std::vector<std::string> result;
  for (const json& node : plan["programs"]["main"]["body"]) {
    for (const char* kind : {"kernel", "call", "copy", "start", "wait"}) {
      if (node.contains(kind))
        result.push_back(kind == std::string("call") ? node["call"].get<std::string>() : kind);
    }
  }
  return result;
}

const char* const kUpdate = R"mlir(
pd.var @w : tensor<4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<?x4xf32>
  %w = pd.get @w : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %y = pd.elementwise_mul X(%x) Y(%w) -> Out("y") : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %g = pd.reduce_sum X(%y) -> Out("g") {dim = array<i32: 0>} : (tensor<?x4xf32>) -> tensor<4xf32>
  %w1 = pd.sgd Param(%w) Grad(%g) LearningRate(%lr) -> ParamOut("w") : (tensor<4xf32>, tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  pd.set @w, %w1 : tensor<4xf32>
)mlir";

}  // namespace

TEST_CASE("an optimizer's update happens in the parameter's own memory") {
  Compiled c(std::string(kUpdate) + "}");
  c.options.main.feedDims["x"] = {8, 4};
  INFO(c.error);
  REQUIRE(c.compile());
  CHECK(kinds(c.read()) ==
        std::vector<std::string>{"kernel", "kernel"});  // the product is part of the sum
  const json plan = c.read();
  CHECK(plan["buffers"][plan["programs"]["main"]["feeds"][0]["buffer"].get<size_t>()]["dims"] ==
        json({8, 4}));
  CHECK(plan["persistables"].size() == 2);
}

const char* const kSparseUpdate = R"mlir(
pd.var @w : tensor<50x4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main attributes {version = 2006002 : i64} {
  %ids = pd.input "ids" : tensor<?x1xi64>
  %d = pd.input "d" : tensor<?x4xf32>
  %w = pd.get @w : tensor<50x4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %g = pd.lookup_table_grad Ids(%ids) "Out@GRAD"(%d) W(%w) -> "W@GRAD"("g") {is_sparse = true} : (tensor<?x1xi64>, tensor<?x4xf32>, tensor<50x4xf32>) -> !pd.rows<tensor<50x4xf32>>
  %w1 = pd.sgd Param(%w) Grad(%g) LearningRate(%lr) -> ParamOut("w") : (tensor<50x4xf32>, !pd.rows<tensor<50x4xf32>>, tensor<1xf32>) -> tensor<50x4xf32>
  pd.set @w, %w1 : tensor<50x4xf32>
)mlir";

TEST_CASE(
    "an update by rows happens in the parameter's own memory, where its old value is not read") {
  const auto offsets = [](const std::string& text, bool late) {
    Compiled c(text);
    c.options.main.feedDims["ids"] = {3, 1};
    c.options.main.feedDims["d"] = {3, 4};
    if (late) c.options.main.fetches = {"late"};
    INFO(c.error);
    REQUIRE(c.compile());
    const json plan = c.read();
    for (const json& node : plan["programs"]["main"]["body"])
      if (node.value("call", "") == "dt_sgd_rows") {
        const json &in = plan["buffers"][node["args"][0].get<size_t>()],
                   &out = plan["buffers"][node["args"][3].get<size_t>()];
        return std::pair(in["space"] == out["space"] && in["offset"] == out["offset"], kinds(plan));
      }
    FAIL("no update by rows");
    return std::pair(false, kinds(plan));
  };
  const auto [shared, nodes] = offsets(std::string(kSparseUpdate) + "}", false);
  CHECK(shared);
  CHECK(std::count(nodes.begin(), nodes.end(), "copy") == 0);
  const auto [kept, more] = offsets(std::string(kSparseUpdate) + R"mlir(
  %late = pd.scale X(%w) -> Out("late") {scale = 2.0 : f32} : (tensor<50x4xf32>) -> tensor<50x4xf32>
})mlir",
                                    true);
  CHECK((!kept || std::count(more.begin(), more.end(), "copy") > 0));
}

TEST_CASE("an old value that is still read after the update is kept") {
  Compiled c(std::string(kUpdate) + R"mlir(
  %late = pd.scale X(%w) -> Out("late") {scale = 2.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
})mlir");
  c.options.main.feedDims["x"] = {8, 4};
  c.options.main.fetches = {"late"};
  INFO(c.error);
  REQUIRE(c.compile());
  std::vector<std::string> nodes = kinds(c.read());
  CHECK(nodes.front() == "copy");
}

TEST_CASE("what nobody needs is not computed") {
  Compiled c(std::string(kUpdate) + R"mlir(
  %late = pd.cholesky X(%x) -> Out("late") : (tensor<?x4xf32>) -> tensor<?x4xf32>
})mlir");
  c.options.main.feedDims["x"] = {8, 4};
  INFO(c.error);
  CHECK(c.compile());
}

TEST_CASE("all ops without a lowering are named at once, and nothing is written") {
  Compiled c(std::string(kUpdate) + R"mlir(
  %a = pd.partial_allgather X(%x) -> Out("a") {nranks = 1 : i32, rank = 0 : i32} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %b = pd.c_identity X(%a) -> Out("b") : (tensor<?x4xf32>) -> tensor<?x4xf32>
})mlir");
  c.options.main.feedDims["x"] = {8, 4};
  c.options.main.fetches = {"b"};
  CHECK_FALSE(c.compile());
  CHECK_THAT(c.error,
             Catch::Contains("no lowering for 2 op type(s): c_identity, partial_allgather"));
  CHECK_FALSE(std::filesystem::exists(c.plan()));
}

TEST_CASE("errors say what to do") {
  Compiled c(std::string(kUpdate) + "}");
  SECTION("open extents") {
    CHECK_FALSE(c.compile());
    CHECK_THAT(c.error,
               Catch::Contains("feed x has extents of -1, which those of its data are; give them "
                               "with --feeds or --feed"));
  }
  SECTION("data of another shape") {
    c.options.main.feedDims["x"] = {8, 5};
    CHECK_FALSE(c.compile());
    CHECK_THAT(c.error, Catch::Contains("feed x: the data do not have the declared dims"));
  }
  SECTION("a fetch that does not exist") {
    c.options.main.feedDims["x"] = {8, 4};
    c.options.main.fetches = {"nothing"};
    CHECK_FALSE(c.compile());
    CHECK_THAT(c.error, Catch::Contains("fetch nothing: the program has no such variable"));
  }
  SECTION("a folder that holds something else") {
    c.options.main.feedDims["x"] = {8, 4};
    std::filesystem::create_directories(c.plan());
    std::ofstream(c.plan() + "/thesis.txt") << "dear";
    CHECK_FALSE(c.compile());
    CHECK_THAT(c.error, Catch::Contains("is no compiled plan"));
    CHECK(std::filesystem::exists(c.plan() + "/thesis.txt"));
  }
}

TEST_CASE(
    "a persistable made of others has no memory of its own, and is refused where it is read") {
  std::string text = R"mlir(
pd.var @a : tensor<2xf32> {parameter}
pd.var @b : tensor<2xf32> {parameter}
pd.var @whole : tensor<4xf32> {parameter, pd.parts = [@a, @b]}
pd.program @main attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2xf32>
  %a = pd.get @a : tensor<2xf32>
  %y = pd.elementwise_add X(%x) Y(%a) -> Out("y") : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %whole = pd.get @whole : tensor<4xf32>
  %z = pd.scale X(%whole) -> Out("z") {scale = 2.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
})mlir";
  Compiled parts(text), whole(text);
  parts.options.main.fetches = {"y"};
  REQUIRE(parts.compile());
  CHECK(parts.read()["persistables"].size() == 2);
  whole.options.main.fetches = {"z"};
  CHECK_FALSE(whole.compile());
  CHECK_THAT(whole.error, Catch::Contains("persistable whole") &&
                              Catch::Contains("shares the storage of others"));
}

TEST_CASE("temporaries that live together never overlap") {
  std::string text = R"mlir(
pd.program @main attributes {version = 2006002 : i64} {
  %x0 = pd.input "x" : tensor<100x4xf32>
)mlir";
  // A chain whose every second value is read again at the end.
  for (int i = 1; i <= 12; ++i) {
    text += "  %x" + std::to_string(i) + " = pd.mul X(%x" + std::to_string(i - 1) +
            ") Y(%k) -> Out(\"v" + std::to_string(i) +
            "\") {x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<100x4xf32>, "
            "tensor<4x4xf32>) -> tensor<100x4xf32>\n";
  }
  text.insert(text.find("  %x1 "), "  %k = pd.input \"k\" : tensor<4x4xf32>\n");
  text +=
      "  %s = pd.sum X(%x2, %x4, %x6, %x12) -> Out(\"s\") : (tensor<100x4xf32>, tensor<100x4xf32>, "
      "tensor<100x4xf32>, tensor<100x4xf32>) -> "
      "tensor<100x4xf32>\n}";
  Compiled c(text);
  c.options.main.fetches = {"s"};
  INFO(c.error);
  REQUIRE(c.compile());
  const json plan = c.read();
  const json& body = plan["programs"]["main"]["body"];
  std::map<int, std::pair<int, int>> lives;
  for (int i = 0; i < static_cast<int>(body.size()); ++i) {
    for (int id : body[i]["args"]) {
      auto [it, fresh] = lives.try_emplace(id, i, i);
      it->second.second = i;
    }
  }
  for (const json& feed : plan["programs"]["main"]["feeds"]) lives[feed["buffer"]].first = -1;
  int64_t most = 0;
  for (const auto& [a, lifeA] : lives) {
    const json& bufferA = plan["buffers"][a];
    CHECK(bufferA["offset"].get<int64_t>() % 64 == 0);
    most += bufferA["bytes"].get<int64_t>();
    for (const auto& [b, lifeB] : lives) {
      if (a == b || lifeA.second < lifeB.first || lifeB.second < lifeA.first) continue;
      const json& bufferB = plan["buffers"][b];
      const int64_t startA = bufferA["offset"], startB = bufferB["offset"];
      INFO("buffers " << a << " and " << b);
      CHECK((startA + bufferA["bytes"].get<int64_t>() <= startB ||
             startB + bufferB["bytes"].get<int64_t>() <= startA));
    }
  }
  CHECK(plan["arena_bytes"].get<int64_t>() < most / 2);
}

TEST_CASE("collectives: blocking ones are waited for at once, started ones at their wait") {
  Compiled c(R"mlir(
dist.mesh @world [dp = 2]
dist.comm @grad on @world over [dp] group
pd.var @w : tensor<4xf32> {parameter}
pd.program @main attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4xf32>
  %p = dist.all_reduce sum (%x) on @grad : (tensor<4xf32>) -> !dist.pending<tensor<4xf32>>
  %y = pd.scale X(%x) -> Out("y") {scale = 2.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  %g = dist.wait %p : (!dist.pending<tensor<4xf32>>) -> tensor<4xf32>
  %b = dist.broadcast (%y) on @grad from <dp = 1> : (tensor<4xf32>) -> tensor<4xf32>
  %s = pd.elementwise_add X(%g) Y(%b) -> Out("s") : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
})mlir");
  c.options.main.fetches = {"s"};
  INFO(c.error);
  REQUIRE(c.compile());
  const json plan = c.read();
  CHECK(kinds(plan) ==
        std::vector<std::string>{"start", "kernel", "wait", "start", "wait", "kernel"});
  CHECK(plan["comms"] == json::parse(R"([{"name": "grad", "axes": ["dp"]}])"));
  const json& body = plan["programs"]["main"]["body"];
  CHECK(body[0]["start"] == "all_reduce");
  CHECK(body[2]["wait"] == body[0]["ticket"]);
  CHECK(body[3]["start"] == "broadcast");
  CHECK(body[3]["root"] == 1);
}

// Whether the update of @w is computed in its own memory: then no copy is left.
bool updatesInPlace(const std::string& body) {
  Compiled c(R"mlir(
dist.mesh @world [dp = 2]
dist.comm @grad on @world over [dp] group
pd.var @w : tensor<4xf32> {parameter}
pd.program @main attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4xf32>
  %w = pd.get @w : tensor<4xf32>
)mlir" + body +
             "}");
  INFO(c.error);
  REQUIRE(c.compile());
  const std::vector<std::string> nodes = kinds(c.read());
  return std::find(nodes.begin(), nodes.end(), "copy") == nodes.end();
}

TEST_CASE("a persistable is not updated in place while a collective under way uses it") {
  const std::string start =
      "  %p = dist.all_reduce sum (%w) on @grad : (tensor<4xf32>) -> "
      "!dist.pending<tensor<4xf32>>\n";
  const std::string update =
      "  %n = pd.elementwise_add X(%x) Y(%w) -> Out(\"n\") : (tensor<4xf32>, tensor<4xf32>) -> "
      "tensor<4xf32>\n";
  const std::string wait =
      "  %s = dist.wait %p : (!dist.pending<tensor<4xf32>>) -> tensor<4xf32>\n";
  const std::string set = "  pd.set @w, %n : tensor<4xf32>\n";
  CHECK(updatesInPlace(start + wait + update + set));
  CHECK_FALSE(updatesInPlace(start + update + wait + set));
  CHECK_FALSE(updatesInPlace(start + update + set + wait));

  // The new value, read by a collective that is waited for after the next update.
  const std::string startNew =
      "  %p = dist.all_reduce sum (%n) on @grad : (tensor<4xf32>) -> "
      "!dist.pending<tensor<4xf32>>\n";
  const std::string again = "  pd.set @w, %x : tensor<4xf32>\n";
  CHECK_FALSE(updatesInPlace(update + set + startNew + again + wait));
}

}  // namespace dtranspile::lower
