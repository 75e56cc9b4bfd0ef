#include "tools/dtranspile/cli/tool.h"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <limits>
#include <sstream>

#include "compiler/import/usable.h"
#include "dialects/dist/dist.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/Verifier.h"
#include "runtime/base/printable.h"
#include "tools/dtranspile/cli/files.h"
#include "tools/dtranspile/cli/version.h"

namespace dtranspile::cli {
namespace {

// The sub-commands, in the order of --help.
constexpr Command kCommands[] = {
    {"transpile", "make a distributed job of a saved program", declareTranspile},
    {"verify", "check that a job means what its program means and cannot hang", declareVerify},
    {"run", "run a job, or a program, as processes on this machine", declareRun},
    {"export", "write the programs of every rank for the framework", declareExport},
    {"compile", "compile a job to native code per class of ranks", declareCompile},
    {"show", "print a program, a job or a plan", declareShow},
    {"convert", "convert between .pdmodel, .pdtxt, .mlir and .mlirbc", declareConvert},
    {"diff", "compare two programs or jobs by op and attribute", declareDiff},
    {"ops", "list the operators that are supported", declareOps},
    {"strategy", "check, show or explain a strategy file", declareStrategy},
    {"trace", "say where the ranks of a job that failed went apart", declareTrace},
    {"doctor", "check this machine: tools, memory, shared memory, GPU", declareDoctor},
};

// Words in flags may be joined with - or _: --sync_mode is --sync-mode. Values are left alone.
std::vector<std::string> normalise(int argc, const char* const* argv) {
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) {
    std::string word = argv[i];
    if (word.rfind("--", 0) == 0)
      for (size_t k = 2; k < word.size() && word[k] != '='; ++k)
        if (word[k] == '_') word[k] = '-';
    words.push_back(word);
  }
  return words;
}

}  // namespace

Tool::Tool()
    : context_(std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED)) {
  context_->loadDialect<pd::PdDialect, dist::DistDialect>();
  context_->printOpOnDiagnostic(
      false);  // locations say where; the text of a whole program helps nobody
  diagnostics_ = std::make_unique<Diagnostics>(context_.get());
}

Tool::~Tool() = default;

void Tool::error(const std::string& message) {
  llvm::errs() << "dtranspile: error: " << Printable(message) << "\n";
}
void Tool::note(const std::string& message) {
  llvm::errs() << "dtranspile: note: " << Printable(message) << "\n";
}

std::string Tool::binaryFolder() {
  char path[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  return length < 0 ? "." : llvm::sys::path::parent_path(llvm::StringRef(path, length)).str();
}

// MAIN and STARTUP as one module, or a file that holds both already.
mlir::OwningOpRef<mlir::ModuleOp> loadPrograms(Tool& tool, const std::string& main,
                                               const std::string& startup, bool baseName) {
  mlir::FailureOr<std::string> bytes = readFile(tool.context(), main);
  if (mlir::failed(bytes)) return {};
  if (!holdsOneProgram(sniff(*bytes)) && startup.empty()) {
    mlir::OwningOpRef<mlir::ModuleOp> module = loadBytes(tool.context(), main, *bytes);
    return module && mlir::succeeded(checkUsable(*module)) ? std::move(module) : nullptr;
  }
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(mlir::UnknownLoc::get(tool.context()));
  const std::pair<const std::string&, const char*> files[] = {{main, "main"}, {startup, "startup"}};
  for (auto [file, symbol] : files) {
    if (file.empty()) continue;
    if (&file != &main)
      bytes = readFile(tool.context(), file);  // MAIN has been read: standard input is there once
    if (mlir::failed(bytes)) return {};
    if (!holdsOneProgram(sniff(*bytes))) {
      // Text and byte code hold a module each; they are given alone, with both programs inside.
      tool.error(file +
                 ": a start-up program is given beside MAIN only when both are saved programs "
                 "(ProgramDesc or PIR JSON)");
      return {};
    }
    ImportOptions options;
    options.file = baseName ? llvm::sys::path::filename(file).str() : file;
    options.symbol = symbol;
    if (mlir::failed(importAny(*module, *bytes, options))) return {};
  }
  // An importer takes what it can keep; who acts on a program wants a right one.
  if (mlir::failed(mlir::verify(*module)) || mlir::failed(checkUsable(*module))) return {};
  return module;
}

CLI::Validator wholeNumber(int64_t least, int64_t most) {
  auto check = [=](const std::string& text) -> std::string {
    int64_t value = 0;
    if (!llvm::StringRef(text).getAsInteger(10, value) && value >= least && value <= most)
      return "";
    return "'" + text + "' is no whole number from " + std::to_string(least) + " to " +
           std::to_string(most);
  };
  return CLI::Validator(check, "");
}

namespace {

// The word that stands for the command, where there is no such one; empty otherwise.
std::string unknownCommand(const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    if (word.rfind("-", 0) == 0) continue;
    const bool known = std::any_of(std::begin(kCommands), std::end(kCommands),
                                   [&](const Command& command) { return word == command.name; });
    return known ? "" : word;
  }
  return "";
}

int refuseCommand(const std::string& word) {
  constexpr unsigned kTypingError = 3;
  const Command* nearest = nullptr;
  unsigned least = kTypingError;
  for (const Command& command : kCommands) {
    const unsigned distance =
        llvm::StringRef(word).edit_distance(command.name, /*AllowReplacements=*/true, kTypingError);
    if (distance < least) nearest = &command, least = distance;
  }
  llvm::errs() << "dtranspile: error: there is no command '" << Printable(word) << "'";
  if (nearest) llvm::errs() << "; did you mean '" << nearest->name << "'?\n";
  else llvm::errs() << "; `dtranspile --help` lists the commands\n";
  return kUsage;
}

}  // namespace

// All that main does; tests call it in-process. Only the parser throws, and only here is that
// caught.
int runTool(int argc, const char* const* argv) {
  // Diagnostics that could not be written are lost; LLVM would end the process for it.
  const auto forget = llvm::make_scope_exit([] { llvm::errs().clear_error(); });
  CLI::App app(
      "dtranspile: distributed jobs out of saved single-device PaddlePaddle programs\n\n"
      "  dtranspile transpile main.pdmodel --startup startup.pdmodel -o job --mode collective "
      "--trainers 4\n"
      "  dtranspile run job --feeds feeds --init init",
      "dtranspile");
  app.require_subcommand(1);
  app.set_version_flag("--version", versionText());
  std::vector<std::pair<CLI::App*, Action>> actions;
  for (const Command& command : kCommands) {
    CLI::App* sub = app.add_subcommand(command.name, command.summary);
    actions.emplace_back(sub, command.declare(*sub));
  }
  std::vector<std::string> words = normalise(argc, argv);
  if (const std::string word = unknownCommand(words); !word.empty()) return refuseCommand(word);
  std::reverse(words.begin(), words.end());  // CLI11 takes them last first
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out, wrong;
    if (app.exit(error, out, wrong) != 0) {
      // It repeats the words as they were given.
      llvm::errs() << Printable(wrong.str(), LineBreaks::kKeep, kLongestMessage);
      return kUsage;
    }
    Tool tool;
    return writeOutput(tool, "-", out.str()) ? kDone : kNo;
  }
  for (auto& [sub, action] : actions) {
    if (!sub->parsed()) continue;
    Tool tool;
    return action(tool);
  }
  return kUsage;
}

}  // namespace dtranspile::cli
