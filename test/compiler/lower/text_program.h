// Programs as text in the tests of the lowering: lowering_test.cc, blocks_test.cc.
#pragma once

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "compiler/lower/compile.h"
#include "dialects/dist/dist.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"

namespace dtranspile::lower {

// A program given as text, and the plan it becomes in a folder that goes with the object.
class Compiled {
 public:
  explicit Compiled(const std::string& text) {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "dtranspile-plan-test-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    context_.loadDialect<pd::PdDialect, dist::DistDialect>();
    handler_ = std::make_unique<mlir::ScopedDiagnosticHandler>(&context_, [&](mlir::Diagnostic& d) {
      error += d.str() + "\n";
      for (mlir::Diagnostic& note : d.getNotes()) error += note.str() + "\n";
    });
    module_ = mlir::parseSourceString<mlir::ModuleOp>(text, &context_);
    INFO(error);
    REQUIRE(module_);
  }
  ~Compiled() { std::filesystem::remove_all(folder_); }

  bool compile() {
    pd::ProgramOp main = *module_->getOps<pd::ProgramOp>().begin();
    return mlir::succeeded(compilePrograms(main, nullptr, options, plan()));
  }
  std::string plan() const { return folder_ + "/plan"; }
  nlohmann::json read() const {
    std::ifstream file(plan() + "/plan.json");
    return nlohmann::json::parse(file);
  }

  CompileOptions options;
  std::string error;

 private:
  std::string folder_;
  mlir::MLIRContext context_;
  std::unique_ptr<mlir::ScopedDiagnosticHandler> handler_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
};

}  // namespace dtranspile::lower
