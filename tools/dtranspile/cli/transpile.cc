// dtranspile transpile MAIN --startup STARTUP -o JOB, dtranspile export JOB -o DIR
#include "compiler/analysis/divergence.h"
#include "compiler/analysis/program_info.h"
#include "compiler/artifact/job.h"
#include "compiler/export/collective/collective.h"
#include "compiler/export/program.h"
#include "compiler/pipelines/collective.h"
#include "compiler/specialize/specialize.h"
#include "compiler/strategy/strategy.h"
#include "llvm/ADT/StringExtras.h"
#include "runtime/io/filesystem.h"
#include "runtime/io/json.h"
#include "runtime/io/output.h"
#include "runtime/io/staged.h"
#include "tools/dtranspile/cli/files.h"
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

struct ExportFlags {
  std::string job, output, ranks = "all";
  std::vector<std::string> endpoints;
};

// "all" or "0,3"; empty after a message.
std::vector<int64_t> parseRanks(Tool& tool, const std::string& text, int64_t count) {
  std::vector<int64_t> ranks;
  if (text == "all") {
    for (int64_t rank = 0; rank < count; ++rank) ranks.push_back(rank);
    return ranks;
  }
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(text).split(parts, ',');
  for (llvm::StringRef part : parts) {
    int64_t rank = 0;
    if (part.trim().getAsInteger(10, rank) || rank < 0 || rank >= count) {
      tool.error("--ranks " + text + ": expected `all` or numbers from 0 to " +
                 std::to_string(count - 1));
      return {};
    }
    ranks.push_back(rank);
  }
  return ranks;
}

// The endpoint of every rank: the program of each names all of them. Ports of this machine where
// none are given, as long as there are enough.
mlir::FailureOr<std::vector<std::string>> endpointsOf(Tool& tool,
                                                      const std::vector<std::string>& given,
                                                      int64_t count) {
  constexpr int64_t kFirstPort = 6170, kPorts = 65536 - kFirstPort;
  if (given.empty() && count > kPorts)
    return tool.error("--endpoints: the job has " + std::to_string(count) +
                      " ranks; this machine has ports for " + std::to_string(kPorts) +
                      ": give the endpoint of each rank"),
           mlir::failure();
  if (!given.empty() && static_cast<int64_t>(given.size()) != count)
    return tool.error("--endpoints: the job has " + std::to_string(count) + " ranks, " +
                      std::to_string(given.size()) + " endpoints are given"),
           mlir::failure();
  std::vector<std::string> endpoints = given;
  for (int64_t rank = 0; given.empty() && rank < count; ++rank)
    endpoints.push_back("127.0.0.1:" + std::to_string(kFirstPort + rank));
  return endpoints;
}

// One rank's module with the framework's own communication operators: a class of its own, so that
// every guard is resolved.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> rankModule(
    dist::RoleOp role, dist::MeshOp mesh, int64_t rank, llvm::ArrayRef<std::string> endpoints) {
  SpecializeOptions options;
  options.inlineComposites = false;
  options.verify = false;  // what becomes of it is
  auto module = specialize(role, classOfRank(role, mesh, rank), options);
  if (mlir::failed(module) || mlir::failed(exportCollective(**module, rank, endpoints)))
    return mlir::failure();
  return module;
}

// A file of the folder that is not published yet.
bool writeStaged(Tool& tool, const std::string& path, const std::string& bytes) {
  absl::Status status = io::WriteFile(path, bytes.data(), static_cast<int64_t>(bytes.size()));
  if (!status.ok()) tool.error(std::string(status.message()));
  return status.ok();
}

bool writeProgram(Tool& tool, mlir::ModuleOp module, const char* symbol, const std::string& path) {
  pd::ProgramOp program = findProgram(module, symbol);
  if (!program) return true;
  mlir::FailureOr<std::string> bytes = exportProgramBytes(program);
  return mlir::succeeded(bytes) && writeStaged(tool, path, *bytes);
}

int exportJob(Tool& tool, const ExportFlags& flags) {
  mlir::FailureOr<Job> job = openJob(tool, flags.job);
  if (mlir::failed(job) || mlir::failed(verify::checkUniform(*job->module))) return kNo;
  auto roles = job->module->getOps<dist::RoleOp>();
  if (std::next(roles.begin()) != roles.end())
    return tool.error(flags.job +
                      ": programs of several roles (parameter servers) are not exported yet"),
           kNo;
  absl::StatusOr<io::Entry> there = io::Look(flags.output);
  if (!there.ok()) return tool.error(std::string(there.status().message())), kNo;
  if (*there != io::Entry::kNone && !io::HoldsOnly(flags.output, {}))
    return tool.error(flags.output + ": exists and is no empty folder; nothing is replaced"), kNo;
  int64_t count = job->ranks();
  mlir::FailureOr<std::vector<std::string>> endpoints = endpointsOf(tool, flags.endpoints, count);
  if (mlir::failed(endpoints)) return kUsage;
  std::vector<int64_t> ranks = parseRanks(tool, flags.ranks, count);
  if (ranks.empty()) return kUsage;

  dist::RoleOp role = *job->module->getOps<dist::RoleOp>().begin();
  auto mesh = llvm::dyn_cast_or_null<dist::MeshOp>(
      mlir::SymbolTable::lookupSymbolIn(*job->module, role.getMesh()));
  if (!mesh)
    return tool.error(flags.job + ": role @" + role.getSymName().str() + " has no mesh"), kNo;
  absl::StatusOr<io::StagedFolder> staged = io::StagedFolder::Create(flags.output);
  if (!staged.ok()) return tool.error(std::string(staged.status().message())), kNo;
  Json index = {{"sync", true},
                {"trainers", Json::array()},
                {"servers", Json::array()},
                {"rings", Json::object()}};
  std::vector<std::vector<std::vector<int64_t>>> rings;
  for (int64_t rank : ranks) {
    auto module = rankModule(role, mesh, rank, *endpoints);
    if (mlir::failed(module)) return kNo;
    std::string stem = "trainer_" + std::to_string(rank);
    if (!writeProgram(tool, **module, "main", staged->path() + "/" + stem + ".main.pdmodel") ||
        !writeProgram(tool, **module, "startup", staged->path() + "/" + stem + ".startup.pdmodel"))
      return kNo;
    index["trainers"].push_back(
        {{"main", stem + ".main.pdmodel"}, {"startup", stem + ".startup.pdmodel"}});
    if (rings.empty()) rings = ringsOf(**module);  // all ranks' texts have the communicators
  }
  for (size_t ring = 0; ring < rings.size(); ++ring)
    index["rings"][std::to_string(ring)] =
        rings[ring].size() == 1 ? Json(rings[ring].front()) : Json(rings[ring]);
  if (!writeStaged(tool, staged->path() + "/export.json", io::JsonText(index, 1) + "\n"))
    return kNo;
  if (absl::Status status = staged->PublishNew(); !status.ok())
    return tool.error(std::string(status.message())), kNo;
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

Action declareExport(CLI::App& app) {
  auto flags = std::make_shared<ExportFlags>();
  app.footer("Example: dtranspile export job -o programs");
  app.add_option("JOB", flags->job, "folder of the job, or its module alone: .mlir or .mlirbc")
      ->required();
  app.add_option("-o,--output", flags->output, "folder for the programs and export.json")
      ->required();
  app.add_option("--ranks", flags->ranks, "all, or numbers: 0,3");
  app.add_option("--endpoints", flags->endpoints,
                 "HOST:PORT of every rank (default 127.0.0.1:6170 …)")
      ->delimiter(',');
  return [flags](Tool& tool) { return exportJob(tool, *flags); };
}

}  // namespace dtranspile::cli
