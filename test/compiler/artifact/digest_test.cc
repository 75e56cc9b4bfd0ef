// What the digest of a job sees, and what it does not: docs/file-formats.md.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "compiler/artifact/job.h"
#include "dialects/dist/dist.h"
#include "dialects/pd/pd.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

namespace dtranspile {
namespace {

using Json = nlohmann::ordered_json;

struct Fixture {
  // Ops of no dialect stand for any op: what the digest has to see is the same in all.
  Fixture() {
    context.loadDialect<pd::PdDialect, dist::DistDialect>();
    context.allowUnregisteredDialects();
  }

  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string& text) {
    INFO(text);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    REQUIRE(module);
    return module;
  }
  std::string digest(const std::string& text) { return digestOf(*parse(text), Json::object()); }

  mlir::MLIRContext context;
};

std::string digest(const std::string& text) { return Fixture().digest(text); }

std::string jobText(const std::string& name) {
  std::ifstream file(std::string(std::getenv("TEST_SRCDIR")) + "/dtranspile/test/jobs/" + name +
                     ".mlir");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

const char* const kJobs[] = {"merged_gradients", "owner_sharded_2", "parameter_server", "pipeline"};

std::string printed(mlir::ModuleOp module, bool locations, bool generic) {
  std::string text;
  llvm::raw_string_ostream out(text);
  mlir::OpPrintingFlags flags;
  flags.enableDebugInfo(locations);
  if (generic) flags.printGenericOpForm();
  module->print(out, flags);
  return text;
}

std::string bytecode(mlir::ModuleOp module) {
  std::string bytes;
  llvm::raw_string_ostream out(bytes);
  REQUIRE(mlir::succeeded(mlir::writeBytecodeToFile(module, out)));
  return bytes;
}

}  // namespace

// Every module differs from every other one in one thing that is named.
TEST_CASE("every part of a module counts") {
  const std::pair<const char*, const char*> modules[] = {
      {"an op", R"("t.a"() : () -> ())"},
      {"no op", ""},
      {"its name", R"("t.b"() : () -> ())"},
      {"twice", R"("t.a"() : () -> () "t.a"() : () -> ())"},
      {"two ops", R"("t.a"() : () -> () "t.b"() : () -> ())"},
      {"their order", R"("t.b"() : () -> () "t.a"() : () -> ())"},
      {"an attribute", R"("t.a"() {x = "v"} : () -> ())"},
      {"its name", R"("t.a"() {y = "v"} : () -> ())"},
      {"its value", R"("t.a"() {x = "w"} : () -> ())"},
      {"as a property", R"("t.a"() <{x = "v"}> : () -> ())"},
      {"no text", R"("t.a"() {x = ""} : () -> ())"},
      {"typed text", R"("t.a"() {x = "v" : i32} : () -> ())"},
      {"quoted text", R"("t.a"() {x = "\22v\22"} : () -> ())"},
      {"a byte of zero", R"("t.a"() {x = "v\00"} : () -> ())"},
      {"unit", R"("t.a"() {x} : () -> ())"},
      {"a second attribute", R"("t.a"() {x = "v", y = "v"} : () -> ())"},
      {"exchanged values", R"("t.a"() {x = "v", y = "w"} : () -> ())"},
      {"exchanged values, the other way", R"("t.a"() {x = "w", y = "v"} : () -> ())"},
      {"integer", R"("t.a"() {x = 1 : i32} : () -> ())"},
      {"its type", R"("t.a"() {x = 1 : i64} : () -> ())"},
      {"its sign", R"("t.a"() {x = 1 : si32} : () -> ())"},
      {"its value", R"("t.a"() {x = -1 : i32} : () -> ())"},
      {"of many words", R"("t.a"() {x = 18446744073709551617 : i128} : () -> ())"},
      {"index", R"("t.a"() {x = 1 : index} : () -> ())"},
      {"boolean", R"("t.a"() {x = true} : () -> ())"},
      {"the other", R"("t.a"() {x = false} : () -> ())"},
      {"float", R"("t.a"() {x = 1.0 : f32} : () -> ())"},
      {"its type", R"("t.a"() {x = 1.0 : f64} : () -> ())"},
      {"its last bit", R"("t.a"() {x = 0x3F800001 : f32} : () -> ())"},
      {"zero", R"("t.a"() {x = 0.0 : f32} : () -> ())"},
      {"its sign", R"("t.a"() {x = -0.0 : f32} : () -> ())"},
      {"no number", R"("t.a"() {x = 0x7FC00000 : f32} : () -> ())"},
      {"another one", R"("t.a"() {x = 0x7FC00001 : f32} : () -> ())"},
      {"list", R"("t.a"() {x = ["v", "w"]} : () -> ())"},
      {"its order", R"("t.a"() {x = ["w", "v"]} : () -> ())"},
      {"its nesting", R"("t.a"() {x = [["v"], "w"]} : () -> ())"},
      {"its nesting", R"("t.a"() {x = [["v", "w"]]} : () -> ())"},
      {"one text of both", R"("t.a"() {x = ["vw"]} : () -> ())"},
      {"split elsewhere", R"("t.a"() {x = ["", "vw"]} : () -> ())"},
      {"empty list", R"("t.a"() {x = []} : () -> ())"},
      {"list in a list", R"("t.a"() {x = [[]]} : () -> ())"},
      {"dictionary", R"("t.a"() {x = {v = "w"}} : () -> ())"},
      {"its key", R"("t.a"() {x = {w = "w"}} : () -> ())"},
      {"empty dictionary", R"("t.a"() {x = {}} : () -> ())"},
      {"numbers", R"("t.a"() {x = array<i32: 1, 2>} : () -> ())"},
      {"one of them", R"("t.a"() {x = array<i32: 1, 3>} : () -> ())"},
      {"how many", R"("t.a"() {x = array<i32: 1, 2, 0>} : () -> ())"},
      {"their type", R"("t.a"() {x = array<i64: 1, 2>} : () -> ())"},
      {"their bytes as another type", R"("t.a"() {x = array<i64: 8589934593>} : () -> ())"},
      {"no numbers", R"("t.a"() {x = array<i32>} : () -> ())"},
      {"type", R"("t.a"() {x = i32} : () -> ())"},
      {"another type", R"("t.a"() {x = tensor<2xi32>} : () -> ())"},
      {"its extent", R"("t.a"() {x = tensor<3xi32>} : () -> ())"},
      {"its extent", R"("t.a"() {x = tensor<?xi32>} : () -> ())"},
      {"its element", R"("t.a"() {x = tensor<2xf32>} : () -> ())"},
      {"its encoding", R"("t.a"() {x = tensor<2xf32, "e">} : () -> ())"},
      {"levels", R"("t.a"() {x = !pd.lod<tensor<2xf32>, 1>} : () -> ())"},
      {"number of levels", R"("t.a"() {x = !pd.lod<tensor<2xf32>, 2>} : () -> ())"},
      {"symbol", R"("t.a"() {x = @v} : () -> ())"},
      {"nested symbol", R"("t.a"() {x = @v::@w} : () -> ())"},
      {"deeper", R"("t.a"() {x = @v::@w::@w} : () -> ())"},
      {"elements", R"("t.a"() {x = dense<[1, 2]> : tensor<2xi32>} : () -> ())"},
      {"one of them", R"("t.a"() {x = dense<[1, 3]> : tensor<2xi32>} : () -> ())"},
      {"all the same", R"("t.a"() {x = dense<1> : tensor<2xi32>} : () -> ())"},
      {"their shape", R"("t.a"() {x = dense<1> : tensor<2x1xi32>} : () -> ())"},
      {"slot", R"("t.a"() {x = #pd.slot<"X" of "v", "w">} : () -> ())"},
      {"its name", R"("t.a"() {x = #pd.slot<"Y" of "v", "w">} : () -> ())"},
      {"its arguments", R"("t.a"() {x = #pd.slot<"X" of "w", "v">} : () -> ())"},
      {"how many", R"("t.a"() {x = #pd.slot<"X" of "v">} : () -> ())"},
      {"none", R"("t.a"() {x = #pd.slot<"X">} : () -> ())"},
      {"block", R"("t.a"() {x = #pd.block<1>} : () -> ())"},
      {"its number", R"("t.a"() {x = #pd.block<2>} : () -> ())"},
      {"reference", R"("t.a"() {x = #pd.ref<"v">} : () -> ())"},
      {"its name", R"("t.a"() {x = #pd.ref<"w">} : () -> ())"},
      {"relation", R"("t.a"() {x = #dist.rel<"v">} : () -> ())"},
      {"its number", R"("t.a"() {x = #dist.rel<"v" number 2>} : () -> ())"},
      {"its state", R"("t.a"() {x = #dist.rel<"v", dp: P(sum)>} : () -> ())"},
      {"its scale", R"("t.a"() {x = #dist.rel<"v", dp: P(sum), scale 1/4>} : () -> ())"},
      {"result", R"(%0 = "t.a"() : () -> i32)"},
      {"its type", R"(%0 = "t.a"() : () -> i64)"},
      {"two results", R"(%0:2 = "t.a"() : () -> (i32, i32))"},
      {"operand", R"(%0:2 = "t.a"() : () -> (i32, i32) "t.b"(%0#0) : (i32) -> ())"},
      {"another one", R"(%0:2 = "t.a"() : () -> (i32, i32) "t.b"(%0#1) : (i32) -> ())"},
      {"both", R"(%0:2 = "t.a"() : () -> (i32, i32) "t.b"(%0#0, %0#1) : (i32, i32) -> ())"},
      {"their order", R"(%0:2 = "t.a"() : () -> (i32, i32) "t.b"(%0#1, %0#0) : (i32, i32) -> ())"},
      {"one twice", R"(%0:2 = "t.a"() : () -> (i32, i32) "t.b"(%0#0, %0#0) : (i32, i32) -> ())"},
      {"of an op", R"(%0 = "t.a"() : () -> i32 %1 = "t.a"() : () -> i32 "t.b"(%0) : (i32) -> ())"},
      {"of the other",
       R"(%0 = "t.a"() : () -> i32 %1 = "t.a"() : () -> i32 "t.b"(%1) : (i32) -> ())"},
      {"before it is made", R"("t.b"(%0) : (i32) -> () %0 = "t.a"() : () -> i32)"},
      {"region", R"("t.a"() ({}) : () -> ())"},
      {"two regions", R"("t.a"() ({}, {}) : () -> ())"},
      {"op in it", R"("t.a"() ({"t.b"() : () -> ()}) : () -> ())"},
      {"in the second", R"("t.a"() ({}, {"t.b"() : () -> ()}) : () -> ())"},
      {"in the first", R"("t.a"() ({"t.b"() : () -> ()}, {}) : () -> ())"},
      {"behind it", R"("t.a"() ({}) : () -> () "t.b"() : () -> ())"},
      {"two in it", R"("t.a"() ({"t.b"() : () -> () "t.b"() : () -> ()}) : () -> ())"},
      {"one in the other", R"("t.a"() ({"t.b"() ({}) : () -> ()}) : () -> ())"},
      {"block argument", R"("t.a"() ({^b(%0: i32): "t.b"() : () -> ()}) : () -> ())"},
      {"its type", R"("t.a"() ({^b(%0: i64): "t.b"() : () -> ()}) : () -> ())"},
      {"two of them", R"("t.a"() ({^b(%0: i32, %1: i32): "t.b"() : () -> ()}) : () -> ())"},
      {"blocks", R"("t.a"() ({"t.j"()[^b] : () -> () ^b: "t.j"()[^c] : () -> () ^c: "t.r"() : () ->
       ()}) : () -> ())"},
      {"their jumps", R"("t.a"() ({"t.j"()[^c] : () -> () ^b: "t.j"()[^c] : () -> () ^c: "t.r"() :
       () -> ()}) : () -> ())"},
      {"symbol's name", R"(pd.var @v : tensor<2xf32>)"},
      {"another name", R"(pd.var @w : tensor<2xf32>)"},
      {"what it is", R"(pd.var @v : tensor<2xf32> {parameter})"},
      {"its type", R"(pd.var @v : tensor<2xf64>)"},
      {"op of a row", R"(pd.program @main { %0 = pd.input "x" : tensor<2xf32> })"},
      {"name of a feed", R"(pd.program @main { %0 = pd.input "y" : tensor<2xf32> })"},
      {"of the module", R"(module attributes {t.x} {})"},
      {"module's name", R"(module @m {})"},
  };
  std::map<std::string, std::string> seen;
  for (const auto& [what, text] : modules) {
    auto [found, isNew] = seen.try_emplace(digest(text), std::string(what) + ": " + text);
    INFO(what << ": " << text << " and " << found->second);
    CHECK(isNew);
  }
}

TEST_CASE("data of resources count, their keys do not") {
  const auto job = [](const std::string& key, const std::string& data) {
    return "module attributes {t.x = dense_resource<" + key + "> : tensor<1xi32>} {}\n" +
           "{-# dialect_resources: { builtin: { " + key + ": \"0x04000000" + data + "\" } } #-}";
  };
  CHECK(digest(job("a", "01000000")) == digest(job("b", "01000000")));
  CHECK(digest(job("a", "01000000")) != digest(job("a", "02000000")));
}

TEST_CASE("locations do not count") {
  CHECK(digest(R"("t.a"() : () -> () loc("x.py":1:2))") ==
        digest(R"("t.a"() : () -> () loc("y.py":3:4))"));
  CHECK(digest(R"("t.a"() ({^b(%0: i32 loc("x")): "t.b"() : () -> ()}) : () -> ())") ==
        digest(R"("t.a"() ({^b(%0: i32 loc("y")): "t.b"() : () -> ()}) : () -> ())"));
}

TEST_CASE("the order in which attributes are written down does not count") {
  CHECK(digest(R"("t.a"() {x = 1 : i32, y = "v"} : () -> ())") ==
        digest(R"("t.a"() {y = "v", x = 1 : i32} : () -> ())"));
}

TEST_CASE("text and bytecode of a job have its digest, in every context") {
  for (const char* name : kJobs) {
    INFO(name);
    Fixture first;
    auto job = first.parse(jobText(name));
    const std::string right = digestOf(*job, Json::object());
    CHECK(digestOf(*job, Json::object()) == right);
    // Numbers and addresses that attributes have from other modules.
    Fixture used;
    for (const char* other : kJobs)
      if (other != name) used.digest(jobText(other));
    for (Fixture* fixture : {&first, &used}) {
      CHECK(fixture->digest(printed(*job, /*locations=*/false, /*generic=*/false)) == right);
      CHECK(fixture->digest(printed(*job, /*locations=*/true, /*generic=*/true)) == right);
      CHECK(fixture->digest(bytecode(*job)) == right);
    }
  }
}

TEST_CASE("every field of the manifest counts but the digest") {
  Fixture fixture;
  auto module = fixture.parse("");
  const Json base = {{"digest", "d"}, {"mode", "m"}, {"strategy", {{"a", 1}}}};
  const std::string right = digestOf(*module, base);
  Json other = base;
  other["digest"] = "another";
  CHECK(digestOf(*module, other) == right);
  other.erase("digest");
  CHECK(digestOf(*module, other) == right);
  std::set<std::string> seen = {right};
  for (const char* text :
       {R"({"mode": "n", "strategy": {"a": 1}})", R"({"mode": "m", "strategy": {"a": 2}})",
        R"({"mode": "m", "strategy": {"b": 1}})", R"({"mode": "m"})",
        R"({"mode": "m", "strategy": {"a": 1}, "more": null})",
        R"({"strategy": {"a": 1}, "mode": "m"})", R"({"mode": "m\",\"strategy", "": {"a": 1}})"}) {
    INFO(text);
    CHECK(seen.insert(digestOf(*module, Json::parse(text))).second);
  }
}

// The same on every machine, and in every build until the encoding gets another number.
TEST_CASE("a digest that is known") {
  CHECK(
      digest(R"("t.a"() {x = ["v", 1 : i32, 2.5 : f32, array<i64: 1, 2>, @s, f32]} : () -> ())") ==
      "sha256:b3c4bc4a65dc64e33e9d85baa504205dfe8a45bba14b766405ae87739106a746");
}

}  // namespace dtranspile
