// dtranspile transpile MAIN --startup STARTUP -o JOB
#include "compiler/analysis/program_info.h"
#include "compiler/artifact/job.h"
#include "compiler/pipelines/collective.h"
#include "passes/lift-parallel-ops/ranks.h"
#include "runtime/io/json.h"
#include "tools/dtranspile/cli/runnable.h"
#include "tools/dtranspile/cli/strategy_flags.h"

namespace dtranspile::cli {
namespace {

using Json = nlohmann::ordered_json;

struct TranspileFlags {
  std::string main, startup, output, loss;
  std::vector<std::string> ranks;  // programs of other ranks of the group
  StrategyFlags request;
  bool force = false, printPipeline = false;
};

// --loss NAME says what the program trains; op roles say it too, and they have to agree: gradients
// of another value are not in the program.
bool isLoss(Tool& tool, pd::ProgramOp main, const std::string& name, const std::string& file) {
  const std::string loss = findLoss(main);
  if (name.empty() || name == loss) return true;
  std::string message = file + ": --loss " + name + ": ";
  if (!definesName(main, name)) {
    message += "the program computes no value of that name";
    if (const std::vector<std::string> similar = similarNames(main, name); !similar.empty())
      message += "; did you mean '" + similar.front() + "'?";
  } else if (loss.empty()) {
    message += "no op of the program is marked as computing a loss; save it after `minimize`";
  } else {
    message += "the gradients of the program are those of '" + loss +
               "'; save it after `minimize` "
               "of the other, or leave the flag out";
  }
  tool.error(message);
  return false;
}

// Programs of other ranks of the group that the program is one rank's of.
bool agree(Tool& tool, const TranspileFlags& flags, mlir::ModuleOp module,
           const Strategy& strategy) {
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> others;
  std::vector<passes::RankProgram> programs = {{flags.main, module}};
  for (const std::string& file : flags.ranks) {
    others.push_back(loadPrograms(tool, file, "", /*baseName=*/true));
    if (!others.back()) return false;
    programs.push_back({file, *others.back()});
  }
  return programs.size() == 1 ||
         mlir::succeeded(passes::checkRanksAgree(programs, strategy.tensor_parallel_degree));
}

int transpile(Tool& tool, const TranspileFlags& flags) {
  const std::optional<Request> request = flags.request.request(tool);
  if (!request) return kNo;
  report(tool, flags.request.file(), request->findings);
  if (hasError(request->findings)) return kNo;
  const Strategy& strategy = request->strategy;
  if (flags.printPipeline) {
    llvm::outs() << collectivePipeline(strategy) << "\n";
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
  if (!isLoss(tool, findProgram(*module, "main"), flags.loss, flags.main)) return kNo;
  if (!flags.ranks.empty() && strategy.input_parallel != "mp")
    return tool.error(
               "transpile: --input-rank: programs of other ranks are those of a group; add "
               "--input-parallel mp"),
           kUsage;
  if (!agree(tool, flags, *module, strategy)) return kNo;
  if (mlir::failed(transpileCollective(*module, strategy))) return kNo;
  Json manifest = makeManifest(*module, toJson(strategy));
  if (mlir::failed(writeJob(flags.output, *module, manifest, flags.force))) return kNo;
  const int64_t servers = serverCount(strategy);
  tool.note("wrote " + flags.output + ", " + std::to_string(strategy.trainers) + " trainers, " +
            (servers > 0 ? std::to_string(servers) + " servers, " : "") + "digest " +
            manifest["digest"].get<std::string>());
  return kDone;
}

}  // namespace

Action declareTranspile(CLI::App& app) {
  auto flags = std::make_shared<TranspileFlags>();
  app.footer(
      "Example: dtranspile transpile main.pdmodel --startup startup.pdmodel -o job --mode "
      "collective --trainers 4");
  app.add_option("MAIN", flags->main, "the saved program");
  app.add_option("--startup", flags->startup, "its start-up program");
  app.add_option(
      "--input-rank", flags->ranks,
      "with --input-parallel mp: programs of other ranks of the group, which have to say "
      "the same as MAIN");
  app.add_option("--loss", flags->loss, "the value that is minimised; an error if another one is");
  app.add_option("-o,--output", flags->output, "folder of the job");
  app.add_flag("--force", flags->force, "replace an existing job");
  app.add_flag("--print-pipeline", flags->printPipeline,
               "print the passes of the request, as dtranspile-opt takes them, and write nothing");
  app.add_option("--strategy", flags->request.file(),
                 "a DistributedStrategy in protobuf text format; flags override it");
  flags->request.declareFields(app);
  return [flags](Tool& tool) { return transpile(tool, *flags); };
}

}  // namespace dtranspile::cli
