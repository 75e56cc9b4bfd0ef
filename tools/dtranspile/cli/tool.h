// The command line as a library: main.cc calls runTool, tests call it in process. One file per
// sub-command, one line per command in tool.cc.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "compiler/import/import.h"
#include "mlir/IR/MLIRContext.h"
#include "tools/dtranspile/cli/diagnostics.h"

namespace dtranspile::cli {

// What scripts may rely on.
enum ExitCode : int {
  kDone = 0,       // done, verified
  kNo = 1,         // the input is wrong, or the answer is no
  kUsage = 2,      // wrong usage
  kUnknown = 3,    // verify could not decide
  kFailed = 4,     // the job failed while running
  kInternal = 70,  // an internal error
};

// What every command works with: a context with all dialects, and diagnostics that are written as a
// compiler writes them:
//   main.pdmodel: block 0, op 12: error: …
class Tool {
 public:
  Tool();
  ~Tool();
  mlir::MLIRContext* context() { return context_.get(); }

  // A line on standard error: `dtranspile: error: …`.
  void error(const std::string& message);
  void note(const std::string& message);

  // Folder of the running binary, where its helpers lie.
  static std::string binaryFolder();

 private:
  std::unique_ptr<mlir::MLIRContext> context_;
  std::unique_ptr<Diagnostics> diagnostics_;
};

// Checks a flag's value: a whole number from `least` to `most`.
CLI::Validator wholeNumber(int64_t least, int64_t most = std::numeric_limits<int64_t>::max());

// A sub-command: declares its flags on `app` and returns what to do when it was given.
using Action = std::function<int(Tool&)>;
struct Command {
  const char* name;
  const char* summary;
  Action (*declare)(CLI::App& app);
};

Action declareTranspile(CLI::App& app);
Action declareVerify(CLI::App& app);
Action declareRun(CLI::App& app);
Action declareExport(CLI::App& app);
Action declareCompile(CLI::App& app);
Action declareShow(CLI::App& app);
Action declareConvert(CLI::App& app);
Action declareDiff(CLI::App& app);
Action declareOps(CLI::App& app);
Action declareStrategy(CLI::App& app);
Action declareDoctor(CLI::App& app);
Action declareTrace(CLI::App& app);

int runTool(int argc, const char* const* argv);

// MAIN, and STARTUP where given, in one module as programs `main` and `startup`. With `baseName`
// locations name files without their folders: what is written then does not depend on where the
// files lay.
mlir::OwningOpRef<mlir::ModuleOp> loadPrograms(Tool& tool, const std::string& main,
                                               const std::string& startup, bool baseName = false);

}  // namespace dtranspile::cli
