// A case of the corpora, imported, compiled and run in this process.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "compiler/lower/compile.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "runtime/exec/executor.h"
#include "runtime/io/feed.h"
#include "runtime/io/npy.h"

namespace dtranspile::lower {

using nlohmann::json;

json readJson(const std::string& path);
std::string readAll(const std::string& path);

class ProgramCase {
 public:
  // `name` below the corpora ("fluid18/lenet"). `cache`: folder of compiled kernels; empty: one of
  // its own.
  explicit ProgramCase(const std::string& name, const std::string& cache = "");
  ~ProgramCase();

  // Errors are left in `errors`.
  bool load();
  bool compile(CompileStatistics& statistics);
  // Everything in float64 (pass widen-float64), between load and compile.
  bool widen();
  bool widened() const { return widened_; }

  // Loads the plan and gives the persistables their values: from init/, or by the start-up program.
  // Throws on failure.
  std::unique_ptr<exec::Executor> start(bool runStartup);

  // What is fed in a step, as it is in the file. Throws on failure.
  Tensor feed(const std::string& name, int64_t step) const;

  // Feeds one step and runs it. Throws on failure.
  void step(exec::Executor& executor, int64_t step);

  // The value of a buffer after a step, wherever it lives; LoD where it has one.
  static TensorView valueOf(const exec::Executor& executor, int buffer, const Lod** lod = nullptr);
  // The name that a fetch has in golden.json. Values of PIR have none of their own: there it is one
  // of case.json.
  std::string goldenName(const std::string& fetch) const;

  std::string plan() const { return temporary_ + "/plan"; }
  const std::string& folder() const { return folder_; }
  const json& info() const { return info_; }
  pd::ProgramOp program() { return main_; }
  LoweringRequest& request() { return options_.main; }

  std::string errors;

 private:
  bool import(const std::string& which, pd::ProgramOp& program);

  std::string temporary_, folder_;
  json info_;
  std::map<std::string, std::string> goldenNames_;
  mlir::MLIRContext context_;
  std::unique_ptr<mlir::ScopedDiagnosticHandler> handler_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  pd::ProgramOp main_, startup_;
  CompileOptions options_;
  bool widened_ = false;
  std::map<std::string, io::Feed> feeds_;
};

}  // namespace dtranspile::lower
