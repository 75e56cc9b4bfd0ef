// The PIR programs of the corpus: all import, verify, print and become ProgramDescs; what is
// damaged is refused, never worse.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <set>

#include "compiler/analysis/program_info.h"
#include "compiler/export/program.h"
#include "compiler/import/pir/op_mapping.h"
#include "dialects/pd/op_view.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "test/compiler/import/pir/pir_json.h"
#include "test/compiler/import/programs.h"
#include "test/corpus_path.h"

namespace dtranspile::test {
namespace {

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string textOf(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text;
}

struct Imported {
  Imported(Context& context, const std::string& file) {
    Diagnostics collected(context);
    module = loadFile(&context, file);
    INFO(file << ": " << collected.text);
    REQUIRE(module);
    REQUIRE(mlir::succeeded(mlir::verify(*module)));
    program = *module->getOps<pd::ProgramOp>().begin();
  }
  mlir::OwningOpRef<mlir::ModuleOp> module;
  pd::ProgramOp program;
};

}  // namespace

TEST_CASE("rows of the PIR table name ops, slots and attributes of dialect pd") {
  for (llvm::ArrayRef<pir::PirRow> rows : pir::families()) {
    for (const pir::PirRow& row : rows) {
      pir::Rule rule;
      std::string error;
      INFO(row.name);
      CHECK((pir::parseRow(row, rule, error) ? "" : error) == "");
    }
  }
}

TEST_CASE("every program imports, prints and becomes a ProgramDesc that is the same program") {
  for (const std::string& name : CorpusCases("pir33")) {
    for (const char* which : {"main", "startup"}) {
      DYNAMIC_SECTION(name << " " << which) {
        Context context;
        Imported imported(context, CorpusPath("pir33/" + name) + "/" + which + ".json");
        mlir::FailureOr<std::string> bytes = exportProgramBytes(imported.program);
        REQUIRE(mlir::succeeded(bytes));
        Result again(context, *bytes);
        REQUIRE(again.module);
        CHECK(exportProgramBytes(again.program()).value() == *bytes);
        CHECK(textOf(*again.module) == textOf(*imported.module));
        auto parsed = mlir::parseSourceString<mlir::ModuleOp>(textOf(*imported.module),
                                                              mlir::ParserConfig(&context));
        REQUIRE(parsed);
        CHECK(exportProgramBytes(*parsed->getOps<pd::ProgramOp>().begin()).value() == *bytes);
      }
    }
  }
}

TEST_CASE("case.json finds its values, feeds and variables in the program") {
  for (const std::string& name : CorpusCases("pir33")) {
    DYNAMIC_SECTION(name) {
      Context context;
      Imported imported(context, CorpusPath("pir33/" + name) + "/main.json");
      const json info = json::parse(slurp(CorpusPath("pir33/" + name) + "/case.json"));
      for (const json& fetch : info["fetch_values"]) {
        std::string value = "#" + std::to_string(fetch["op_index"].get<int>()) + "." +
                            std::to_string(fetch["result"].get<int>());
        INFO(value);
        CHECK(definesName(imported.program, value));
        if (fetch["name"] == info["loss"]) CHECK(findLoss(imported.program) == value);
      }
      std::set<std::string> inputs, fed, variables, persistables = info["persistables"];
      for (pd::InputOp input : inputsOf(imported.program)) inputs.insert(input.getName().str());
      for (const json& feed : info["feeds"]) fed.insert(feed["name"].get<std::string>());
      CHECK(inputs == fed);
      for (auto var : imported.module->getOps<pd::VarOp>())
        variables.insert(var.getSymName().str());
      CHECK(variables == persistables);
    }
  }
}

// Every parameter that is updated has its gradient named at the op that makes it: data parallel
// jobs reduce it there.
TEST_CASE("gradients of parameters are found") {
  for (const std::string& name : CorpusCases("pir33")) {
    DYNAMIC_SECTION(name) {
      Context context;
      Imported imported(context, CorpusPath("pir33/" + name) + "/main.json");
      std::set<std::string> updated, known;
      for (mlir::Operation& op : *imported.program.getBodyBlock()) {
        if (!pd::OpView::isFrameworkOp(&op)) continue;
        pd::OpView view(&op);
        if (view.hasInput("Param")) updated.insert(view.getStrings("op_role_var")[0]);
        if (!(view.role() & pd::kBackward) || !view.hasAttr("op_role_var")) continue;
        std::vector<std::string> names = view.getStrings("op_role_var");
        for (size_t i = 0; i < names.size(); i += 2) CHECK(known.insert(names[i]).second);
      }
      CHECK(!updated.empty());
      CHECK(known == updated);
    }
  }
}

TEST_CASE("damaged files are refused or read, never worse") {
  const std::string whole = slurp(CorpusPath("pir33/fit_a_line") + "/main.json");
  Context context;
  Diagnostics collected(context);
  auto tryImport = [&](const std::string& bytes) {
    collected.text.clear();
    mlir::OwningOpRef<mlir::ModuleOp> module =
        mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
    bool done = mlir::succeeded(importAny(*module, bytes, {}));
    CHECK((done || !collected.text.empty()));
    return done;
  };
  CHECK(tryImport(whole));
  for (size_t size = 1; size < whole.size(); size += 7) CHECK(!tryImport(whole.substr(0, size)));
  // One digit or letter exchanged for another; seeded by position, so that runs repeat.
  for (size_t at = 0; at < whole.size(); at += 3) {
    std::string changed = whole;
    changed[at] = "09-\"[]{},:azAZ."[at / 3 % 15];
    tryImport(changed);
  }
}

}  // namespace dtranspile::test
