#include "tools/dtranspile/cli/runnable.h"

#include <set>

#include "compiler/analysis/divergence.h"
#include "compiler/analysis/program_info.h"
#include "compiler/artifact/fetches.h"
#include "dialects/dist/dist.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/infer.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "runtime/io/feed.h"

namespace dtranspile::cli {
namespace {

std::string dimsText(const std::vector<int64_t>& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

std::string typeText(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  type.print(stream);
  return text;
}

// NAME=VALUE; false without an `=`.
bool splitPair(const std::string& text, std::string& name, std::string& value) {
  size_t at = text.find('=');
  if (at == std::string::npos || at == 0) return false;
  name = text.substr(0, at);
  value = text.substr(at + 1);
  return true;
}

// What the program declares about a feed against what the data has. The rows of ragged data belong
// to the step.
bool fits(pd::InputOp input, const FeedData& data) {
  mlir::RankedTensorType tensor = pd::tensorOf(input.getValue().getType());
  if (!tensor) return true;
  llvm::SmallVector<int64_t> declared = pd::dimsOf(tensor);
  if (declared.size() != data.dims.size()) return false;
  for (size_t i = data.ragged; i < declared.size(); ++i)
    if (declared[i] >= 0 && declared[i] != data.dims[i]) return false;
  return true;
}

// Opens the file of a feed and compares its extents, type and levels with the declaration.
mlir::FailureOr<FeedData> openFeed(Tool& tool, pd::InputOp input, const RunFlags& flags,
                                   const std::map<std::string, std::string>& single) {
  std::string name = input.getName().str();
  auto given = single.find(name);
  if (given == single.end() && flags.feeds.empty()) {
    tool.error("the program is fed '" + name +
               "', but no data is given; add --feeds DIR or --feed " + name + "=FILE.npy");
    return mlir::failure();
  }
  absl::StatusOr<io::Feed> feed =
      given == single.end() ? io::Feed::Open(flags.feeds, name) : io::Feed::OpenFile(given->second);
  if (!feed.ok()) {
    tool.error("feed '" + name + "': " + std::string(feed.status().message()));
    return mlir::failure();
  }
  FeedData data{name, feed->file(), feed->dims(), feed->steps(), feed->ragged()};
  if (data.ragged && pd::declaredInfo(input.getValue().getType()).lodLevel == 0) {
    tool.error("feed '" + name +
               "' is ragged (LoD), the program declares it without levels of sequences");
    return mlir::failure();
  }
  if (!fits(input, data)) {
    tool.error("feed '" + name + "' has " + dimsText(data.dims) + " a step, the program declares " +
               typeText(input.getValue().getType()));
    return mlir::failure();
  }
  return data;
}

// A specialised class of every kind of rank of the role.
mlir::FailureOr<RunnableRole> runnableRole(dist::RoleOp op) {
  RunnableRole role;
  role.op = op;
  role.name = op.getSymName().str();
  dist::MeshOp mesh = dist::meshOf(op);
  if (!mesh) return op.emitError("has no mesh");
  for (auto [axis, size] :
       llvm::zip(mesh.getAxes().getAsValueRange<mlir::StringAttr>(), mesh.getSizes()))
    role.mesh.emplace_back(axis.str(), size);
  mlir::FailureOr<std::vector<RankClass>> classes = classesOf(op);
  if (mlir::failed(classes)) return mlir::failure();
  for (RankClass& one : *classes) {
    auto module = specialize(op, one);
    if (mlir::failed(module)) return mlir::failure();
    role.classes.push_back({std::move(one), std::move(*module)});
  }
  return role;
}

// What a class computes of that name on its ranks; null where nothing.
mlir::Value heldValue(const RunnableClass& rankClass, pd::ProgramOp program, llvm::StringRef name) {
  mlir::Value last;
  for (mlir::Operation& op : *program.getBodyBlock())
    for (mlir::Value result : op.getResults()) {
      auto at = llvm::dyn_cast<dist::AtType>(result.getType());
      if (at && rankClass.ranks.where && !at.getWhere().intersect(rankClass.ranks.where)) continue;
      if (dist::nameOf(result) == name) last = result;
    }
  return last;
}

// Whether a variable of that name is one that ranks of the class have.
bool hasVariable(const RunnableClass& rankClass, llvm::StringRef name) {
  return mlir::isa_and_nonnull<pd::VarOp>(
      mlir::SymbolTable::lookupSymbolIn(*rankClass.module, name));
}

// Number of the op that gives the last value of a name (dist.src); -1 for none.
int64_t lastWriter(pd::ProgramOp program, llvm::StringRef name) {
  int64_t number = 0, last = -1;
  if (program)
    program.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
      if (!pd::OpView::isFrameworkOp(op)) return;
      const bool top = op->getBlock() == program.getBodyBlock();
      for (mlir::Value result : op->getResults())
        if (top && dist::nameOf(result) == name) last = number;
      ++number;
    });
  return last;
}

}  // namespace

bool holds(Runnable& runnable, const RunnableClass& rankClass, llvm::StringRef name) {
  pd::ProgramOp main = findProgram(*rankClass.module, "main");
  if (!main || hasVariable(rankClass, name)) return static_cast<bool>(main);
  mlir::Value value = heldValue(rankClass, main, name);
  mlir::Operation* maker = value ? value.getDefiningOp() : nullptr;
  auto number =
      maker ? maker->getAttrOfType<mlir::IntegerAttr>(dist::kSrcAttr) : mlir::IntegerAttr();
  if (runnable.roles.size() < 2 || !number) return static_cast<bool>(value);
  const int64_t last = lastWriter(findProgram(runnable.saved(), "main"), name);
  return last < 0 || last == number.getInt();
}

int64_t RunnableRole::ranks() const {
  int64_t count = 1;
  for (const auto& [axis, size] : mesh) count *= size;
  return count;
}

std::vector<size_t> RunnableRole::classOfRanks() const {
  std::vector<size_t> result;
  dist::MeshOp meshOp = op ? dist::meshOf(op) : dist::MeshOp();
  for (int64_t rank = 0; rank < ranks(); ++rank) {
    size_t index = 0;
    while (meshOp && index + 1 < classes.size() && !classes[index].ranks.contains(meshOp, rank))
      ++index;
    result.push_back(index);
  }
  return result;
}

mlir::ModuleOp Runnable::saved() {
  if (!job) return *roles.front().classes.front().module;
  mlir::ModuleOp reference = job->lookupSymbol<mlir::ModuleOp>("reference");
  return reference ? reference : job->lookupSymbol<mlir::ModuleOp>("source");
}

bool Runnable::hasStartup() {
  return llvm::any_of(roles, [](RunnableRole& role) {
    return llvm::any_of(role.classes, [](RunnableClass& one) {
      return static_cast<bool>(findProgram(*one.module, "startup"));
    });
  });
}

void Runnable::restrictTo(const launch::Part& part) {
  for (RunnableRole& role : roles) {
    for (RunnableClass& one : role.classes) one.here = false;
    for (auto [rank, index] : llvm::enumerate(role.classOfRanks()))
      role.classes[index].here |= part.has(role.name, static_cast<int64_t>(rank));
  }
}

// Of every role that serves: the role that asks it, and which of its ranks do.
std::map<std::string, std::pair<std::string, std::vector<int>>> Runnable::askers() {
  std::map<std::string, std::pair<std::string, std::vector<int>>> result;
  if (!job) return result;
  for (dist::CommOp comm : job->getOps<dist::CommOp>()) {
    if (!comm.getServer()) continue;
    dist::MeshOp mesh = dist::meshOfComm(comm);
    for (RunnableRole& role : roles) {
      if (dist::meshOf(role.op) != mesh || role.name == *comm.getServer()) continue;
      const RankClass members{role.name, comm.getSubset().value_or(dist::SelAttr()), 0};
      auto& [asks, ranks] = result[comm.getServer()->str()];
      asks = role.name;
      for (int rank = 0; rank < role.ranks(); ++rank)
        if ((!members.where || members.contains(mesh, rank)) && !llvm::is_contained(ranks, rank))
          ranks.push_back(rank);
      llvm::sort(ranks);
    }
  }
  return result;
}

bool Runnable::hasVariable(llvm::StringRef name) {
  return llvm::any_of(roles, [&](RunnableRole& role) {
    return llvm::any_of(role.classes,
                        [&](RunnableClass& one) { return cli::hasVariable(one, name); });
  });
}

// A folder with a manifest whose digest must be right, or a module alone, of which a manifest is
// made.
mlir::FailureOr<Job> openJob(Tool& tool, const std::string& path) {
  const llvm::StringRef name(path);
  if (!name.ends_with(".mlir") && !name.ends_with(".mlirbc"))
    return readUnchangedJob(tool.context(), path);
  Job job;
  job.module = loadPrograms(tool, path, "");
  if (!job.module) return mlir::failure();
  if (job.module->getOps<dist::RoleOp>().empty()) {
    tool.error(path + ": holds no role, so it is no job; make one with transpile");
    return mlir::failure();
  }
  job.manifest = makeManifest(*job.module, {{"mode", ""}});
  return job;
}

// A job, or a program of one device, which is a job of one role with one rank.
mlir::FailureOr<Runnable> loadRunnable(Tool& tool, const RunFlags& flags) {
  Runnable runnable;
  Job job;
  if (isJob(flags.input)) {
    if (!flags.startup.empty())
      return tool.error("--startup " + flags.startup + ": the job " + flags.input +
                        " has a start-up program of its own; leave the flag out"),
             mlir::failure();
    mlir::FailureOr<Job> read = openJob(tool, flags.input);
    if (mlir::failed(read)) return mlir::failure();
    job = std::move(*read);
  } else {
    job.module = loadPrograms(tool, flags.input, flags.startup);
    if (!job.module) return mlir::failure();
    if (job.module->getOps<dist::RoleOp>().empty()) {
      if (!findProgram(*job.module, "main")) {
        tool.error(flags.input + ": holds no program @main");
        return mlir::failure();
      }
      RunnableRole role;
      role.classes.push_back({{role.name, {}, 1}, std::move(job.module)});
      runnable.roles.push_back(std::move(role));
      return runnable;
    }
    job.manifest = makeManifest(*job.module, {{"mode", ""}});
  }
  return runnableOf(std::move(job));
}

mlir::FailureOr<Runnable> runnableOf(Job job) {
  Runnable runnable;
  // What not all ranks are known to come to is refused, with the place (D26).
  if (mlir::failed(verify::checkUniform(*job.module))) return mlir::failure();
  runnable.digest = job.digest();
  for (const auto& fetch : job.manifest["fetches"])
    runnable.combine[fetch.value("name", "")] = fetch.value("combine", "");
  const auto strategy = job.manifest.value("strategy", nlohmann::ordered_json::object());
  if (const auto pservers = strategy.find("pservers");
      pservers != strategy.end() && pservers->is_array())
    for (const auto& endpoint : *pservers)
      if (endpoint.is_string() && llvm::StringRef(endpoint.get<std::string>()).contains(':'))
        runnable.pservers.push_back(endpoint.get<std::string>());
  for (dist::RoleOp op : job.module->getOps<dist::RoleOp>()) {
    mlir::FailureOr<RunnableRole> role = runnableRole(op);
    if (mlir::failed(role)) return mlir::failure();
    runnable.roles.push_back(std::move(*role));
  }
  runnable.job = std::move(job.module);
  return runnable;
}

std::vector<pd::InputOp> inputsOf(Runnable& runnable) {
  std::vector<pd::InputOp> inputs;
  std::set<std::string> seen;
  for (RunnableRole& role : runnable.roles)
    for (RunnableClass& one : role.classes) {
      pd::ProgramOp main = findProgram(*one.module, "main");
      if (!main || !one.here) continue;
      for (pd::InputOp input : dtranspile::inputsOf(main))
        if (seen.insert(input.getName().str()).second) inputs.push_back(input);
    }
  return inputs;
}

// One file per feed of the ranks that run here; all must have the same number of steps.
mlir::FailureOr<std::vector<FeedData>> findFeeds(Tool& tool, Runnable& runnable,
                                                 const RunFlags& flags) {
  std::map<std::string, std::string> single;
  for (const std::string& pair : flags.feed) {
    std::string name, file;
    if (!splitPair(pair, name, file)) {
      tool.error("--feed " + pair + ": expected NAME=FILE.npy");
      return mlir::failure();
    }
    if (!single.emplace(name, file).second) {
      tool.error("--feed " + pair + ": '" + name + "' is given twice");
      return mlir::failure();
    }
  }
  std::vector<FeedData> feeds;
  for (pd::InputOp input : inputsOf(runnable)) {
    mlir::FailureOr<FeedData> data = openFeed(tool, input, flags, single);
    if (mlir::failed(data)) return mlir::failure();
    if (!feeds.empty() && data->steps != feeds[0].steps) {
      tool.error("feed '" + data->name + "' has " + std::to_string(data->steps) + " steps, feed '" +
                 feeds[0].name + "' has " + std::to_string(feeds[0].steps));
      return mlir::failure();
    }
    if (data->steps == 0) {
      tool.error(data->file + ": feed '" + data->name + "' has no steps; there is nothing to run");
      return mlir::failure();
    }
    if (data->steps < flags.steps) {
      tool.error("feed '" + data->name + "' has " + std::to_string(data->steps) +
                 " steps, --steps asks for " + std::to_string(flags.steps));
      return mlir::failure();
    }
    feeds.push_back(*data);
    single.erase(data->name);
  }
  if (!single.empty()) {
    tool.error("--feed " + single.begin()->first + ": the program feeds no variable of that name");
    return mlir::failure();
  }
  return feeds;
}

// What to report: the loss where nothing is asked for. An unknown name is answered with names that
// are like it.
mlir::FailureOr<std::vector<std::string>> findFetches(Tool& tool, Runnable& runnable,
                                                      const RunFlags& flags) {
  if (flags.fetch.empty()) {
    for (const RunnableRole& role : runnable.roles)
      for (const RunnableClass& one : role.classes) {
        pd::ProgramOp main = findProgram(*one.module, "main");
        const std::string loss = main ? findLoss(main) : "";
        if (!loss.empty()) return std::vector<std::string>{loss};
      }
    tool.error("the program marks no loss; say with --fetch NAME what to report");
    return mlir::failure();
  }
  for (const std::string& name : flags.fetch) {
    bool held = false;
    std::vector<std::string> similar;  // the nearest first
    for (const RunnableRole& role : runnable.roles)
      for (const RunnableClass& one : role.classes) {
        held |= holds(runnable, one, name);
        pd::ProgramOp main = findProgram(*one.module, "main");
        if (!main) continue;
        for (const std::string& other : similarNames(main, name))
          if (!llvm::is_contained(similar, other)) similar.push_back(other);
      }
    if (held) continue;
    if (runnable.roles.size() > 1 && lastWriter(findProgram(runnable.saved(), "main"), name) >= 0) {
      tool.error("--fetch " + name +
                 ": its last value is made on servers, block by block, and no rank holds it whole");
      return mlir::failure();
    }
    tool.error("--fetch " + name + ": the program computes nothing of that name" +
               (similar.empty() ? "" : "; did you mean " + llvm::join(similar, " or ") + "?"));
    return mlir::failure();
  }
  return flags.fetch;
}

}  // namespace dtranspile::cli
