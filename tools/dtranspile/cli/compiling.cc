#include "tools/dtranspile/cli/compiling.h"

#include <chrono>

#include "compiler/analysis/program_info.h"
#include "compiler/artifact/fetches.h"
#include "compiler/lower/codegen/cache.h"
#include "dialects/dist/dist.h"
#include "dialects/dist/lookup.h"
#include "mlir/Pass/PassManager.h"
#include "passes/widen-float64/pass.h"

namespace dtranspile::cli {
namespace {

// What a rank of the role takes of a step of a feed. Along the cut dim the data have to divide by
// all the parts, those in time too; the rank takes all micro-batches together.
mlir::FailureOr<std::vector<int64_t>> localDims(Tool& tool, pd::InputOp input, dist::MeshOp mesh,
                                                const FeedData& feed,
                                                lower::LoweringRequest& request) {
  std::vector<int64_t> dims = feed.dims;
  auto batch = input->getAttrOfType<dist::BatchAttr>(dist::kBatchAttr);
  if (!batch) return dims;
  lower::FeedSplit split;
  split.dim = static_cast<int>(batch.getDim());
  int64_t ranks = 1, times = 1;
  for (mlir::StringAttr axis : batch.getAxes()) {
    const int64_t size = mesh.sizeOf(axis.getValue()).value_or(1);
    if (!mesh.indexOf(axis.getValue())) {
      times *= size;
      continue;
    }
    split.axes.push_back(axis.getValue().str());
    ranks *= size;
  }
  // Ragged data are cut in sequences, whose number belongs to the step.
  if (!feed.ragged && dims[split.dim] % (ranks * times) != 0) {
    tool.error("feed '" + feed.name + "' has a global batch of " + std::to_string(dims[split.dim]) +
               ", which " + std::to_string(ranks) + " data-parallel ranks" +
               (times > 1 ? " of " + std::to_string(times) + " micro-batches each" : "") +
               " do not divide; use a batch that is a multiple of " +
               std::to_string(ranks * times));
    return mlir::failure();
  }
  if (!feed.ragged) dims[split.dim] /= ranks;
  if (!split.axes.empty()) request.splits[feed.name] = split;
  return dims;
}

// How the ranks' values of the fetches become the reference's. The manifest has been compared with
// the module: what it says needs no second analysis.
void findCombines(Runnable& runnable, const RunnableRole& role, lower::LoweringRequest& request) {
  std::vector<std::string> others;
  for (const std::string& name : request.fetches) {
    auto known = runnable.combine.find(name);
    if (known == runnable.combine.end()) others.push_back(name);
    else request.combine[name] = known->second;
  }
  if (others.empty()) return;
  for (const verify::FetchRelation& fetch :
       verify::fetchRelations(*runnable.job, role.op, others)) {
    request.combine[fetch.name] = fetch.combine;
    runnable.combine[fetch.name] = fetch.combine;
  }
}

}  // namespace

// Extents of feeds are those of the whole batch; a class gets those of its part.
mlir::FailureOr<lower::LoweringRequest> makeRequest(Tool& tool, Runnable& runnable,
                                                    const RunnableRole& role,
                                                    const RunnableClass& rankClass,
                                                    const std::vector<FeedData>& feeds,
                                                    const std::vector<std::string>& fetches) {
  lower::LoweringRequest request;
  pd::ProgramOp main = findProgram(*rankClass.module, "main");
  dist::MeshOp mesh = role.op ? dist::meshOf(role.op) : dist::MeshOp();
  // What a stage receives has the extents that the whole program's feeds give it.
  if (role.op) request.whole = findProgram(role.op, "main");
  for (pd::InputOp input : dtranspile::inputsOf(request.whole ? request.whole : main))
    for (const FeedData& feed : feeds) {
      if (feed.name != input.getName()) continue;
      mlir::FailureOr<std::vector<int64_t>> dims = localDims(tool, input, mesh, feed, request);
      if (mlir::failed(dims)) return mlir::failure();
      request.feedDims[feed.name] = *dims;
    }
  for (const std::string& name : fetches)
    if (holds(runnable, rankClass, name)) request.fetches.push_back(name);
  if (runnable.job) findCombines(runnable, role, request);
  return request;
}

mlir::FailureOr<double> compileClass(Tool& tool, Runnable& runnable, const RunnableRole& role,
                                     RunnableClass& rankClass, const std::vector<FeedData>& feeds,
                                     const std::vector<std::string>& fetches,
                                     const Compiling& options, const std::string& folder) {
  mlir::FailureOr<lower::LoweringRequest> request =
      makeRequest(tool, runnable, role, rankClass, feeds, fetches);
  if (mlir::failed(request)) return mlir::failure();
  lower::CompileOptions compiling;
  compiling.main = *request;
  compiling.main.mendDefects = options.mendDefects;
  if (options.float64) {
    mlir::PassManager passes(rankClass.module->getContext());
    passes.addPass(passes::createWidenFloat64());
    if (mlir::failed(passes.run(*rankClass.module))) return mlir::failure();
  }
  compiling.role = role.name;
  compiling.className = rankClass.ranks.name;
  compiling.digest = runnable.digest;
  compiling.cache = options.cache.empty() ? lower::defaultCacheFolder() : options.cache;
  auto start = std::chrono::steady_clock::now();
  auto statistics =
      lower::compilePrograms(findProgram(*rankClass.module, "main"),
                             findProgram(*rankClass.module, "startup"), compiling, folder);
  if (mlir::failed(statistics)) return mlir::failure();
  if (!statistics->library.cacheRefusal.empty())
    tool.note("kernels are not cached: " + statistics->library.cacheRefusal);
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

}  // namespace dtranspile::cli
