// dtranspile verify JOB|JOB.mlir [MAIN --startup STARTUP]
#include "compiler/verify/verify.h"

#include "compiler/artifact/job.h"
#include "compiler/import/guarded_parse.h"
#include "compiler/import/import.h"
#include "compiler/verify/execution/outcome.h"
#include "compiler/verify/report/render.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "mlir/IR/Diagnostics.h"
#include "tools/dtranspile/cli/diagnostics.h"
#include "tools/dtranspile/cli/execution.h"
#include "tools/dtranspile/cli/files.h"

namespace dtranspile::cli {
namespace {

struct VerifyFlags {
  std::string job, main, startup, format = "text", execute = "auto", cache;
  std::vector<std::string> require;
  int64_t steps = 0;  // 0: kSteps
};

// Of an execution for which no number is given.
constexpr int64_t kSteps = 6;

// The name of rung 5, which `--require` may name as the others.
constexpr llvm::StringLiteral kExecution = "execution";

// What could not be read is refuted, with what the reader said.
class ReadFailure {
 public:
  explicit ReadFailure(mlir::MLIRContext* context)
      : handler_(context, [this](mlir::Diagnostic& diagnostic) {
          verify::Message message;
          message.rule = "unreadable";
          message.position = describeLocation(diagnostic.getLocation());
          message.text = diagnostic.str();
          message.remedy = "make the job again with transpile";
          rung_.add(std::move(message));
          return mlir::success();
        }) {
    rung_.name = verify::rungNames().front();
  }

  verify::VerifyReport report(const verify::VerifyOptions& options) {
    rung_.verdict = verify::Verdict::Refuted;
    verify::VerifyReport report;
    report.rungs.push_back(std::move(rung_));
    report.required = options.require.empty() ? verify::defaultRungs({}) : options.require;
    return report;
  }

 private:
  verify::Rung rung_;
  mlir::ScopedDiagnosticHandler handler_;
};

// A job's module by itself, in text or bytecode.
mlir::OwningOpRef<mlir::ModuleOp> readModule(mlir::MLIRContext* context, const std::string& path) {
  mlir::FailureOr<std::string> bytes = readFile(context, path);
  if (mlir::failed(bytes)) return {};
  return parseGuarded(context, *bytes, path);
}

// Rung 5. Where another rung has refuted the job, it is executed only if somebody wants to know
// this rung by name; where nobody asked, it counts if it refutes.
void execute(Tool& tool, Job job, const VerifyFlags& flags, verify::VerifyReport& report) {
  const bool named = llvm::is_contained(flags.require, kExecution);
  const bool asked = flags.execute == "on" || named;
  if (flags.execute == "off" && !asked) return;
  const bool unsound = report.rungs.front().verdict == verify::Verdict::Refuted;
  const bool refuted = llvm::any_of(report.rungs, [](const verify::Rung& rung) {
    return rung.verdict == verify::Verdict::Refuted;
  });
  ExecutionFlags execution;
  execution.limits = asked ? kAsked : kUnasked;
  execution.steps = flags.steps > 0 ? flags.steps : kSteps;
  execution.cache = flags.cache;
  verify::Rung rung = unsound || (refuted && !named)
                          ? verify::notExecuted("an earlier rung refutes the job")
                          : executeJob(tool, std::move(job), execution);
  const bool counts = asked || rung.verdict == verify::Verdict::Refuted;
  if (counts && flags.require.empty()) report.required.push_back(kExecution.str());
  report.rungs.push_back(std::move(rung));
}

verify::VerifyReport verifyPath(Tool& tool, const std::string& path, const VerifyFlags& flags,
                                const verify::VerifyOptions& options) {
  const bool alone = llvm::sys::fs::is_regular_file(path);
  Job job;
  {
    ReadFailure failure(tool.context());
    if (alone) {
      job.module = readModule(tool.context(), path);
      if (!job.module) return failure.report(options);
    } else {
      mlir::FailureOr<Job> read = readJob(tool.context(), path);
      if (mlir::failed(read)) return failure.report(options);
      job = std::move(*read);
    }
  }
  verify::VerifyReport report =
      verify::verifyJob(*job.module, alone ? nullptr : &job.manifest, options);
  execute(tool, std::move(job), flags, report);
  return report;
}

int verifyCommand(Tool& tool, const VerifyFlags& flags) {
  verify::VerifyOptions options;
  options.wellFormed = true;
  std::vector<std::string> known = verify::rungNames();
  for (const std::string& name : flags.require) {
    if (name == "whole") options.whole = true;
    else if (llvm::is_contained(known, name) || name == kExecution) options.require.push_back(name);
    else
      return tool.error("--require " + name + ": there is no such rung; there are " +
                        llvm::join(known, ", ") + ", and `whole`"),
             kUsage;
  }
  if (flags.execute == "off" && flags.steps > 0 && !llvm::is_contained(flags.require, kExecution))
    return tool.error("--steps: of the execution, which --execute=off leaves out"), kUsage;
  mlir::OwningOpRef<mlir::ModuleOp> given;
  if (!flags.main.empty()) {
    given = loadPrograms(tool, flags.main, flags.startup, /*baseName=*/true);
    if (!given) return kNo;
    options.given = *given;
  }
  verify::VerifyReport report = verifyPath(tool, flags.job, flags, options);
  if (!writeOutput(tool, "-",
                   verify::render(report, *verify::formatNamed(flags.format), flags.job)))
    return kNo;
  return verify::exitCode(report.overall());
}

}  // namespace

Action declareVerify(CLI::App& app) {
  auto flags = std::make_shared<VerifyFlags>();
  app.footer(
      "Example: dtranspile verify job --format sarif\n\nExit status: 0 verified, 1 refuted, 3 "
      "unknown.");
  app.add_option("JOB", flags->job, "folder of the job, or its module alone: .mlir or .mlirbc")
      ->required();
  CLI::Option* main =
      app.add_option("MAIN", flags->main, "the program that the job must have been made from");
  app.add_option("--startup", flags->startup, "its start-up program")->needs(main);
  app.add_option("--require", flags->require,
                 "rungs that the verdict covers (default: all); `whole`: the job must equal the "
                 "single-device step on the whole batch")
      ->delimiter(',');
  app.add_flag("--execute{on}", flags->execute,
               "executes all ranks beside the reference in float64 and compares; =off: does not; "
               "=auto (default): where every op runs natively and the program is small")
      ->check(CLI::IsMember({"on", "off", "auto"}));
  app.add_option("--steps", flags->steps, "of the execution")->check(wholeNumber(1, 1000));
  app.add_option("--cache", flags->cache, "folder of compiled kernels");
  app.add_option("--format", flags->format, "text, json, sarif, junit")
      ->check(CLI::IsMember({"text", "json", "sarif", "junit"}));
  return [flags](Tool& tool) { return verifyCommand(tool, *flags); };
}

}  // namespace dtranspile::cli
