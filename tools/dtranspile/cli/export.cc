// dtranspile export JOB -o DIR
#include <set>

#include "compiler/analysis/divergence.h"
#include "compiler/analysis/program_info.h"
#include "compiler/artifact/job.h"
#include "compiler/export/collective/collective.h"
#include "compiler/export/program.h"
#include "compiler/export/servers/servers.h"
#include "compiler/specialize/specialize.h"
#include "dialects/dist/lookup.h"
#include "runtime/io/filesystem.h"
#include "runtime/io/json.h"
#include "runtime/io/output.h"
#include "runtime/io/staged.h"
#include "tools/dtranspile/cli/files.h"
#include "tools/dtranspile/cli/runnable.h"

namespace dtranspile::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ExportFlags {
  std::string job, output, ranks = "all", role;
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

// The endpoint of every rank, of a job with servers of every server: the program of each rank names
// all of them. Ports of this machine where none are given, as long as there are enough.
mlir::FailureOr<std::vector<std::string>> endpointsOf(Tool& tool,
                                                      const std::vector<std::string>& given,
                                                      int64_t count, const std::string& what) {
  constexpr int64_t kFirstPort = 6170, kPorts = 65536 - kFirstPort;
  if (given.empty() && count > kPorts)
    return tool.error("--endpoints: the job has " + std::to_string(count) + " " + what +
                      "; this machine has ports for " + std::to_string(kPorts) +
                      ": give the endpoint of each"),
           mlir::failure();
  if (!given.empty() && static_cast<int64_t>(given.size()) != count)
    return tool.error("--endpoints: the job has " + std::to_string(count) + " " + what + ", " +
                      std::to_string(given.size()) + " endpoints are given"),
           mlir::failure();
  std::set<std::string> seen;
  for (const std::string& endpoint : given)
    if (!seen.insert(endpoint).second)
      return tool.error("--endpoints: '" + endpoint + "' is given twice; each of the " + what +
                        " has its own"),
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

// Writes the programs of a rank, and gives what the index says of them.
std::optional<Json> writeRank(Tool& tool, mlir::ModuleOp module, const std::string& folder,
                              const std::string& role, int64_t rank) {
  const std::string stem = role + "_" + std::to_string(rank);
  Json entry = {{"role", role}, {"rank", rank}};
  for (const char* program : {"main", "startup"}) {
    const std::string name = stem + "." + program + ".pdmodel";
    if (!writeProgram(tool, module, program, folder + "/" + name)) return std::nullopt;
    entry[program] = name;
  }
  return entry;
}

struct Index {
  Json trainers = Json::array(), servers = Json::array(), rings = Json::object();
  Json pipeline;  // null where there is none
};

// What a stage's program does not say, and its worker has to be told: `pipeline_configs` of the
// framework's strategy.
Json pipelineOf(dist::RoleOp role, dist::MeshOp mesh) {
  Json pipeline;
  role.walk([&](dist::MicroOp micro) {
    int64_t count = 1;
    for (llvm::StringRef axis : micro.getAxes().getAsValueRange<mlir::StringAttr>())
      count *= mesh.sizeOf(axis).value_or(1);
    pipeline = {{"schedule_mode", micro.getSchedule().str()}, {"accumulate_steps", count}};
  });
  return pipeline;
}

// A job of one role, with collectives.
bool exportCollectives(Tool& tool, dist::RoleOp role, dist::MeshOp mesh,
                       llvm::ArrayRef<int64_t> ranks, llvm::ArrayRef<std::string> endpoints,
                       const std::string& folder, Index& index) {
  std::vector<std::vector<std::vector<int64_t>>> rings;
  for (int64_t rank : ranks) {
    auto module = rankModule(role, mesh, rank, endpoints);
    if (mlir::failed(module)) return false;
    std::optional<Json> entry = writeRank(tool, **module, folder, "trainer", rank);
    if (!entry) return false;
    index.trainers.push_back(*entry);
    if (rings.empty()) rings = ringsOf(**module);  // all ranks' texts have the communicators
  }
  for (size_t ring = 0; ring < rings.size(); ++ring)
    index.rings[std::to_string(ring)] =
        rings[ring].size() == 1 ? Json(rings[ring].front()) : Json(rings[ring]);
  index.pipeline = pipelineOf(role, mesh);
  return true;
}

// A job of trainers and servers.
bool exportServed(Tool& tool, const Tables& tables, const std::vector<int64_t>& trainers,
                  const std::vector<int64_t>& servers, const std::string& folder, Index& index) {
  for (int64_t rank : trainers) {
    auto module = exportTrainer(tables, rank);
    if (mlir::failed(module)) return false;
    std::optional<Json> entry = writeRank(tool, **module, folder, "trainer", rank);
    if (!entry) return false;
    index.trainers.push_back(*entry);
  }
  for (int64_t rank : servers) {
    auto module = exportServer(tables, rank);
    if (mlir::failed(module)) return false;
    std::optional<Json> entry = writeRank(tool, **module, folder, "server", rank);
    if (!entry) return false;
    (*entry)["endpoint"] = tables.endpoints()[static_cast<size_t>(rank)];
    index.servers.push_back(*entry);
  }
  return true;
}

// Which ranks of a role are asked for; nothing after a message. Empty where another role is.
std::optional<std::vector<int64_t>> ranksOfRole(Tool& tool, const ExportFlags& flags,
                                                dist::RoleOp role, int64_t count) {
  if (!flags.role.empty() && role.getSymName() != flags.role) return std::vector<int64_t>();
  std::vector<int64_t> ranks = parseRanks(tool, flags.ranks, count);
  if (ranks.empty()) return std::nullopt;
  return ranks;
}

// Writes an export into its folder, which is there whole or not at all.
int publish(Tool& tool, const ExportFlags& flags,
            llvm::function_ref<bool(const std::string& folder, Index& index)> write) {
  absl::StatusOr<io::StagedFolder> staged = io::StagedFolder::Create(flags.output);
  if (!staged.ok()) return tool.error(std::string(staged.status().message())), kNo;
  Index parts;
  if (!write(staged->path(), parts)) return kNo;
  Json index = {{"sync", true},
                {"trainers", parts.trainers},
                {"servers", parts.servers},
                {"rings", parts.rings}};
  if (!parts.pipeline.is_null()) index["pipeline"] = parts.pipeline;
  if (!writeStaged(tool, staged->path() + "/export.json", io::JsonText(index, 1) + "\n"))
    return kNo;
  if (absl::Status status = staged->PublishNew(); !status.ok())
    return tool.error(std::string(status.message())), kNo;
  return kDone;
}

// Those that the job was made for, where its request says them.
std::vector<std::string> endpointsOfRequest(const Json& manifest) {
  std::vector<std::string> endpoints;
  const Json strategy = manifest.value("strategy", Json::object());
  const Json servers = strategy.is_object() ? strategy.value("pservers", Json::array()) : Json();
  if (!servers.is_array()) return endpoints;
  for (const Json& server : servers)
    if (server.is_string() && server.get<std::string>().find(':') != std::string::npos)
      endpoints.push_back(server.get<std::string>());
  return endpoints;
}

// Trainers and servers of a job, of all roles or of one.
int exportServerJob(Tool& tool, const ExportFlags& flags, const Job& opened) {
  mlir::ModuleOp job = *opened.module;
  if (!flags.role.empty() && !mlir::SymbolTable::lookupSymbolIn(job, flags.role))
    return tool.error("--role " + flags.role + ": the job has no such role"), kUsage;
  if (flags.role.empty() && flags.ranks != "all")
    return tool.error("--ranks " + flags.ranks + ": of which role? Name it with --role"), kUsage;
  dist::RoleOp serving = servingRole(job);
  dist::MeshOp mesh = dist::meshOf(serving);
  if (!mesh) return serving.emitError("has no mesh"), kNo;
  mlir::FailureOr<std::vector<std::string>> endpoints = endpointsOf(
      tool, flags.endpoints.empty() ? endpointsOfRequest(opened.manifest) : flags.endpoints,
      mesh.ranks(), "servers");
  if (mlir::failed(endpoints)) return kUsage;
  mlir::FailureOr<Tables> tables = Tables::of(job, *endpoints);
  if (mlir::failed(tables)) return kNo;
  auto trainers = ranksOfRole(tool, flags, tables->trainerRole(), tables->trainers());
  auto servers = ranksOfRole(tool, flags, tables->serverRole(), tables->servers());
  if (!trainers || !servers) return kUsage;
  return publish(tool, flags, [&](const std::string& folder, Index& index) {
    return exportServed(tool, *tables, *trainers, *servers, folder, index);
  });
}

int exportJob(Tool& tool, const ExportFlags& flags) {
  mlir::FailureOr<Job> job = openJob(tool, flags.job);
  if (mlir::failed(job) || mlir::failed(verify::checkUniform(*job->module))) return kNo;
  absl::StatusOr<io::Entry> there = io::Look(flags.output);
  if (!there.ok()) return tool.error(std::string(there.status().message())), kNo;
  if (*there != io::Entry::kNone && !io::HoldsOnly(flags.output, {}))
    return tool.error(flags.output + ": exists and is no empty folder; nothing is replaced"), kNo;
  auto roles = job->module->getOps<dist::RoleOp>();
  if (servingRole(*job->module)) return exportServerJob(tool, flags, *job);
  if (std::next(roles.begin()) != roles.end())
    return tool.error(flags.job +
                      ": has several roles, and none that serves the others: the "
                      "framework has no programs for it"),
           kNo;
  dist::RoleOp role = *roles.begin();
  if (!flags.role.empty() && role.getSymName() != flags.role)
    return tool.error("--role " + flags.role + ": the job has no such role"), kUsage;
  int64_t count = job->ranks();
  mlir::FailureOr<std::vector<std::string>> endpoints =
      endpointsOf(tool, flags.endpoints, count, "ranks");
  if (mlir::failed(endpoints)) return kUsage;
  std::vector<int64_t> ranks = parseRanks(tool, flags.ranks, count);
  if (ranks.empty()) return kUsage;
  auto mesh = llvm::dyn_cast_or_null<dist::MeshOp>(
      mlir::SymbolTable::lookupSymbolIn(*job->module, role.getMesh()));
  if (!mesh)
    return tool.error(flags.job + ": role @" + role.getSymName().str() + " has no mesh"), kNo;
  return publish(tool, flags, [&](const std::string& folder, Index& index) {
    return exportCollectives(tool, role, mesh, ranks, *endpoints, folder, index);
  });
}

}  // namespace

Action declareExport(CLI::App& app) {
  auto flags = std::make_shared<ExportFlags>();
  app.footer("Example: dtranspile export job -o programs");
  app.add_option("JOB", flags->job, "folder of the job, or its module alone: .mlir or .mlirbc")
      ->required();
  app.add_option("-o,--output", flags->output, "folder for the programs and export.json")
      ->required();
  app.add_option("--ranks", flags->ranks, "all, or numbers: 0,3");
  app.add_option("--role", flags->role,
                 "the role to export, of a job with servers (default: all, every rank)");
  app.add_option(
         "--endpoints", flags->endpoints,
         "HOST:PORT of every rank, of a job with servers of every server (default those that "
         "it was made for, else 127.0.0.1:6170 …)")
      ->delimiter(',');
  return [flags](Tool& tool) { return exportJob(tool, *flags); };
}

}  // namespace dtranspile::cli
