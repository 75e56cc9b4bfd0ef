// dtranspile diff A B
#include "compiler/diff/diff.h"

#include "compiler/artifact/job.h"
#include "dialects/pd/form_only.h"
#include "tools/dtranspile/cli/files.h"

namespace dtranspile::cli {
namespace {

struct DiffFlags {
  std::string a, b, format = "text";
};

mlir::OwningOpRef<mlir::ModuleOp> loadEither(Tool& tool, const std::string& path) {
  if (!isJob(path)) {
    pd::checkFormOnly(tool.context());
    return loadFile(tool.context(), path);
  }
  mlir::FailureOr<Job> job = readJob(tool.context(), path);
  return mlir::failed(job) ? mlir::OwningOpRef<mlir::ModuleOp>() : std::move(job->module);
}

int diff(Tool& tool, const DiffFlags& flags) {
  auto a = loadEither(tool, flags.a);
  auto b = loadEither(tool, flags.b);
  if (!a || !b) return kNo;
  DiffReport report = diffModules(*a, *b);
  std::string text = flags.format == "json" ? report.json() + "\n" : report.text();
  if (!writeOutput(tool, "-", text)) return kNo;
  return report.equal() ? kDone : kNo;
}

}  // namespace

Action declareDiff(CLI::App& app) {
  auto flags = std::make_shared<DiffFlags>();
  app.footer(
      "Example: dtranspile diff old.pdmodel new.pdmodel\n\nExit status: 0 equal, 1 different, or "
      "one of them cannot be read.");
  app.add_option("A", flags->a, "program file or job")->required();
  app.add_option("B", flags->b, "program file or job")->required();
  app.add_option("--format", flags->format, "text or json")->check(CLI::IsMember({"text", "json"}));
  return [flags](Tool& tool) { return diff(tool, *flags); };
}

}  // namespace dtranspile::cli
