// dtranspile verify JOB [MAIN --startup STARTUP]
#include "compiler/verify/verify.h"

#include "compiler/artifact/job.h"
#include "compiler/verify/report/render.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "tools/dtranspile/cli/files.h"

namespace dtranspile::cli {
namespace {

struct VerifyFlags {
  std::string job, main, startup, format = "text";
  std::vector<std::string> require;
};

int verifyCommand(Tool& tool, const VerifyFlags& flags) {
  mlir::FailureOr<Job> job = readJob(tool.context(), flags.job);
  if (mlir::failed(job)) return kNo;
  verify::VerifyOptions options;
  options.wellFormed = true;
  std::vector<std::string> known = verify::rungNames();
  for (const std::string& name : flags.require) {
    if (name == "whole") options.whole = true;
    else if (llvm::is_contained(known, name)) options.require.push_back(name);
    else
      return tool.error("--require " + name + ": there is no such rung; there are " +
                        llvm::join(known, ", ") + ", and `whole`"),
             kUsage;
  }
  mlir::OwningOpRef<mlir::ModuleOp> given;
  if (!flags.main.empty()) {
    given = loadPrograms(tool, flags.main, flags.startup, /*baseName=*/true);
    if (!given) return kNo;
    options.given = *given;
  }
  verify::VerifyReport report = verify::verifyJob(*job->module, &job->manifest, options);
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
  app.add_option("JOB", flags->job, "folder of the job")->required();
  CLI::Option* main =
      app.add_option("MAIN", flags->main, "the program that the job must have been made from");
  app.add_option("--startup", flags->startup, "its start-up program")->needs(main);
  app.add_option("--require", flags->require,
                 "rungs that the verdict covers (default: all); `whole`: the job must equal the "
                 "single-device step on the whole batch")
      ->delimiter(',');
  app.add_option("--format", flags->format, "text, json, sarif, junit")
      ->check(CLI::IsMember({"text", "json", "sarif", "junit"}));
  return [flags](Tool& tool) { return verifyCommand(tool, *flags); };
}

}  // namespace dtranspile::cli
