#include "tools/dtranspile/cli/run_flags.h"

#include "compiler/analysis/program_info.h"
#include "compiler/artifact/fetches.h"
#include "compiler/specialize/specialize.h"
#include "dialects/dist/dist.h"
#include "dialects/pd/infer.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "runtime/exec/config.h"
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

}  // namespace

int64_t Runnable::ranks() const {
  int64_t count = 1;
  for (const auto& [axis, size] : mesh) count *= size;
  return count;
}

void declareRunFlags(CLI::App& app, RunFlags& flags) {
  app.add_option("INPUT", flags.input, "JOB, or MAIN for the single-device program")->required();
  app.add_option("--startup", flags.startup, "start-up program of MAIN");
  app.add_option("--feeds", flags.feeds,
                 "folder with NAME.npy per feed; leading dimension = step, then the global batch. "
                 "Ragged: NAME.step<k>.npy, NAME.step<k>.lod.json");
  app.add_option("--feed", flags.feed, "NAME=FILE.npy, for single ones; of ragged data NAME=STEM");
  app.add_option("--fetch", flags.fetch, "what to report (repeatable); default: the loss");
  app.add_option("--steps", flags.steps, "steps to run; default: as many as the feeds have")
      ->check(wholeNumber(1));
  app.add_option("--cache", flags.cache,
                 "folder of compiled kernels; default: below the user's cache folder");
  app.add_option("--threads", flags.threads, "threads of a rank; default: cores / ranks")
      ->check(CLI::Range(1, exec::kMostThreads));
  app.add_flag("--float64", flags.float64,
               "computes everything that the program does in float32 in float64; files of float32 "
               "are widened");
  app.add_flag(
      "--mend-defects", flags.mendDefects,
      "formulas as documented where kernels of the framework are known to depart from them");
}

mlir::FailureOr<Runnable> loadRunnable(Tool& tool, const RunFlags& flags) {
  Runnable runnable;
  if (!isJob(flags.input)) {
    runnable.module = loadPrograms(tool, flags.input, flags.startup);
    if (!runnable.module) return mlir::failure();
    if (findProgram(*runnable.module, "main")) return runnable;
    tool.error(flags.input + ": holds no program @main");
    return mlir::failure();
  }
  mlir::FailureOr<Job> job = readUnchangedJob(tool.context(), flags.input);
  if (mlir::failed(job)) return mlir::failure();
  runnable.digest = job->digest();
  for (const auto& fetch : job->manifest["fetches"])
    runnable.combine[fetch.value("name", "")] = fetch.value("combine", "");
  for (auto mesh : job->module->getOps<dist::MeshOp>())
    for (auto [axis, size] :
         llvm::zip(mesh.getAxes().getAsValueRange<mlir::StringAttr>(), mesh.getSizes()))
      runnable.mesh.emplace_back(axis.str(), size);
  for (auto comm : job->module->getOps<dist::CommOp>()) {
    std::vector<std::string> axes;
    for (auto axis : comm.getAxes().getAsValueRange<mlir::StringAttr>()) axes.push_back(axis.str());
    runnable.comms.emplace_back(comm.getSymName().str(), axes);
  }
  auto roles = job->module->getOps<dist::RoleOp>();
  if (std::distance(roles.begin(), roles.end()) != 1) {
    tool.error(flags.input + ": jobs with one role are run so far, this one has " +
               std::to_string(std::distance(roles.begin(), roles.end())));
    return mlir::failure();
  }
  mlir::FailureOr<std::vector<RankClass>> classes = classesOf(*roles.begin());
  if (mlir::failed(classes)) return mlir::failure();
  if (classes->size() != 1) {
    tool.error(flags.input + ": the job has " + std::to_string(classes->size()) +
               " classes of ranks; jobs with one class are run so far");
    return mlir::failure();
  }
  auto module = specialize(*roles.begin(), classes->front());
  if (mlir::failed(module)) return mlir::failure();
  runnable.module = std::move(*module);
  runnable.job = std::move(job->module);
  return runnable;
}

mlir::FailureOr<std::vector<FeedData>> findFeeds(Tool& tool, Runnable& runnable,
                                                 const RunFlags& flags) {
  std::map<std::string, std::string> single;
  for (const std::string& pair : flags.feed) {
    std::string name, file;
    if (!splitPair(pair, name, file)) {
      tool.error("--feed " + pair + ": expected NAME=FILE.npy");
      return mlir::failure();
    }
    single[name] = file;
  }
  std::vector<FeedData> feeds;
  for (pd::InputOp input : inputsOf(findProgram(*runnable.module, "main"))) {
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

mlir::FailureOr<std::vector<std::string>> findFetches(Tool& tool, Runnable& runnable,
                                                      const RunFlags& flags) {
  pd::ProgramOp main = findProgram(*runnable.module, "main");
  if (flags.fetch.empty()) {
    std::string loss = findLoss(main);
    if (!loss.empty()) return std::vector<std::string>{loss};
    tool.error("the program marks no loss; say with --fetch NAME what to report");
    return mlir::failure();
  }
  for (const std::string& name : flags.fetch) {
    if (definesName(main, name)) continue;
    std::vector<std::string> similar = similarNames(main, name);
    tool.error("--fetch " + name + ": the program computes nothing of that name" +
               (similar.empty() ? "" : "; did you mean " + llvm::join(similar, " or ") + "?"));
    return mlir::failure();
  }
  return flags.fetch;
}

mlir::FailureOr<lower::LoweringRequest> makeRequest(Tool& tool, Runnable& runnable,
                                                    const std::vector<FeedData>& feeds,
                                                    const std::vector<std::string>& fetches) {
  lower::LoweringRequest request;
  pd::ProgramOp main = findProgram(*runnable.module, "main");
  std::map<std::string, int64_t> sizes(runnable.mesh.begin(), runnable.mesh.end());
  for (pd::InputOp input : inputsOf(main)) {
    for (const FeedData& feed : feeds) {
      if (feed.name != input.getName()) continue;
      std::vector<int64_t> dims = feed.dims;
      if (auto batch = input->getAttrOfType<dist::BatchAttr>("dist.batch")) {
        lower::FeedSplit split;
        split.dim = static_cast<int>(batch.getDim());
        int64_t parts = 1;
        for (mlir::StringAttr axis : batch.getAxes()) {
          split.axes.push_back(axis.getValue().str());
          parts *= sizes[axis.getValue().str()];
        }
        // Ragged data are cut in sequences, whose number belongs to the step.
        if (!feed.ragged && dims[split.dim] % parts != 0) {
          tool.error("feed '" + feed.name + "' has a global batch of " +
                     std::to_string(dims[split.dim]) + ", which " + std::to_string(parts) +
                     " data-parallel ranks do not divide; use a batch that is a multiple of " +
                     std::to_string(parts));
          return mlir::failure();
        }
        if (!feed.ragged) dims[split.dim] /= parts;
        request.splits[feed.name] = split;
      }
      request.feedDims[feed.name] = dims;
    }
  }
  request.fetches = fetches;
  if (!runnable.job) return request;
  // The manifest has been compared with the module: what it says needs no second analysis.
  std::vector<std::string> others;
  for (const std::string& name : fetches) {
    auto known = runnable.combine.find(name);
    if (known == runnable.combine.end()) others.push_back(name);
    else request.combine[name] = known->second;
  }
  if (others.empty()) return request;
  dist::RoleOp role = *runnable.job->getOps<dist::RoleOp>().begin();
  for (const verify::FetchRelation& fetch : verify::fetchRelations(*runnable.job, role, others))
    request.combine[fetch.name] = fetch.combine;
  return request;
}

}  // namespace dtranspile::cli
