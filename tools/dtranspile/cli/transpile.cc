// dtranspile transpile MAIN --startup STARTUP -o JOB
#include "compiler/analysis/program_info.h"
#include "compiler/artifact/job.h"
#include "compiler/pipelines/collective.h"
#include "compiler/strategy/strategy.h"
#include "runtime/io/json.h"
#include "tools/dtranspile/cli/runnable.h"

namespace dtranspile::cli {
namespace {

using Json = nlohmann::ordered_json;

struct TranspileFlags {
  std::string main, startup, output;
  Strategy strategy;
  bool force = false, printPipeline = false;
};

int transpile(Tool& tool, const TranspileFlags& flags) {
  if (flags.printPipeline) {
    const std::vector<std::string> problems = problemsOf(flags.strategy);
    for (const std::string& problem : problems) tool.error(problem);
    if (!problems.empty()) return kNo;
    llvm::outs() << collectivePipeline(flags.strategy) << "\n";
    return kDone;
  }
  if (flags.main.empty() || flags.output.empty())
    return tool.error(flags.main.empty() ? "transpile: MAIN is required"
                                         : "transpile: --output is required"),
           kUsage;
  auto module = loadPrograms(tool, flags.main, flags.startup, /*baseName=*/true);
  if (!module) return kNo;
  if (!findProgram(*module, "main"))
    return tool.error(flags.main + ": holds no program @main"), kNo;
  if (mlir::failed(transpileCollective(*module, flags.strategy))) return kNo;
  Json manifest = makeManifest(*module, toJson(flags.strategy));
  if (mlir::failed(writeJob(flags.output, *module, manifest, flags.force))) return kNo;
  const int64_t servers = serverCount(flags.strategy);
  tool.note("wrote " + flags.output + ", " + std::to_string(flags.strategy.trainers) +
            " trainers, " + (servers > 0 ? std::to_string(servers) + " servers, " : "") +
            "digest " + manifest["digest"].get<std::string>());
  return kDone;
}

// One flag per field of a request. A field that is on by default is turned off with `false`.
void declareField(CLI::App& app, const FieldRow& row, bool& value) {
  const std::string flag = "--" + row.flag.str(), meaning = row.meaning.str();
  if (value) app.add_option(flag, value, meaning + " (default true)");
  else app.add_flag(flag, value, meaning);
}
void declareField(CLI::App& app, const FieldRow& row, int64_t& value) {
  CLI::Option* option = app.add_option(
      "--" + row.flag.str(), value, row.meaning.str() + " (default " + std::to_string(value) + ")");
  if (row.ranged) option->check(wholeNumber(row.least, row.most));
}
void declareField(CLI::App& app, const FieldRow& row, std::string& value) {
  app.add_option("--" + row.flag.str(), value, row.meaning.str() + " (default " + value + ")")
      ->check(CLI::IsMember(std::vector<std::string>(row.words.begin(), row.words.end())));
}
void declareField(CLI::App& app, const FieldRow& row, std::vector<std::string>& value) {
  app.add_option("--" + row.flag.str(), value, row.meaning.str())->delimiter(',');
}

}  // namespace

Action declareTranspile(CLI::App& app) {
  auto flags = std::make_shared<TranspileFlags>();
  app.footer(
      "Example: dtranspile transpile main.pdmodel --startup startup.pdmodel -o job --mode "
      "collective --trainers 4");
  app.add_option("MAIN", flags->main, "the saved program");
  app.add_option("--startup", flags->startup, "its start-up program");
  app.add_option("-o,--output", flags->output, "folder of the job");
  app.add_flag("--force", flags->force, "replace an existing job");
  app.add_flag("--print-pipeline", flags->printPipeline,
               "print the passes of the request, as dtranspile-opt takes them, and write nothing");
  for (const FieldRow& row : strategyFields())
    std::visit([&](auto member) { declareField(app, row, flags->strategy.*member); }, row.member);
  return [flags](Tool& tool) { return transpile(tool, *flags); };
}

}  // namespace dtranspile::cli
