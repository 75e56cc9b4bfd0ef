#include "compiler/pipelines/collective.h"

#include <functional>
#include <memory>

#include "dialects/dist/dist.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "passes/passes.h"

namespace dtranspile {
namespace {

bool isLocalSgd(const Strategy& s) {
  return s.mode == "collective" && (s.collective_mode == "local_sgd" || s.adaptive_localsgd);
}

struct Axis {
  std::string name, size;
};

bool isServed(const Strategy& s) { return s.mode == "pserver"; }
bool isGeo(const Strategy& s) { return isServed(s) && serveMode(s) == "geo"; }
bool isUpdatedByServers(const Strategy& s) { return isServed(s) && !isGeo(s); }
bool isReplicated(const Strategy& s) { return !isServed(s); }

// Layers lie on several ranks in parts.
bool isSplit(const Strategy& s) { return s.tensor_parallel && isReplicated(s); }

// What form-job counts: the devices of the program, so many of them on a stage.
std::string annotatedStages(const Strategy& s) {
  return "stages" + (s.virtual_stages > 1 ? "/" + std::to_string(s.virtual_stages) : "");
}

bool isSharded(const Strategy& s) { return s.sharding && isReplicated(s); }
// Whole parameters on ranks that own them, not parts of each.
bool isOwned(const Strategy& s) { return isSharded(s) && s.sharding_form == "owner"; }

// How many groups of `ranks` replicas there are. How many of them the stages of annotations leave
// form-job counts.
std::string groupsOf(const Strategy& s, int64_t ranks) {
  const int64_t groups = s.trainers / (isSplit(s) ? s.tensor_parallel_degree : 1) / ranks;
  if (!s.pipeline) return std::to_string(groups);
  return s.stages ? std::to_string(groups / s.stages)
                  : std::to_string(groups) + "/" + annotatedStages(s);
}

// The axes of the trainers' mesh that are data-parallel.
const char kShardAxis[] = "sharding";
// Axes of data parallelism with their sizes, outermost first; those of stages and layers are added
// by the caller.
std::vector<Axis> axesOf(const Strategy& s) {
  const std::string trainers = std::to_string(s.trainers);
  if (isSharded(s)) {
    const std::string groups = s.sharding_degree ? groupsOf(s, s.sharding_degree) : "1";
    if (groups == "1") return {{kShardAxis, groupsOf(s, 1)}};
    return {{"dp", groups}, {kShardAxis, std::to_string(s.sharding_degree)}};
  }
  if (s.pipeline || isSplit(s)) return {{"dp", groupsOf(s, 1)}};
  if (!s.use_hierarchical_allreduce || isServed(s)) return {{"dp", trainers}};
  const int64_t inner = s.hierarchical_allreduce_inter_nranks;
  return {{"inter", std::to_string(s.trainers / inner)}, {"intra", std::to_string(inner)}};
}

// Micro-batches are ranks like others, as far as what is summed over them goes, until pipeline
// makes an axis of time of them.
const char kMicro[] = "micro", kStages[] = "pp", kLayers[] = "mp";
std::vector<Axis> meshOf(const Strategy& s) {
  std::vector<Axis> mesh = axesOf(s);
  // Ranks that have parts of the same parameters exchange more than stages do.
  if (s.pipeline)
    mesh.insert(mesh.end() - (isSharded(s) ? 1 : 0),
                {kStages, s.stages ? std::to_string(s.stages) : annotatedStages(s)});
  // The parts of a layer send most, and so are neighbours.
  if (isSplit(s)) mesh.push_back({kLayers, std::to_string(s.tensor_parallel_degree)});
  if (s.pipeline) mesh.push_back({kMicro, std::to_string(s.accumulate_steps)});
  return mesh;
}

// What a pass is told beside the fields that are its options.
// Data: the axes over which the batch is cut, micro-batches among them. Stages: that of the stages.
// Layers: that over which layers are split. Pieces: whether ranks have some of the parameters each.
// Cut: the axes of the batch, and which of them is that of the micro-batches.
enum class Told {
  Nothing,
  Axes,
  Data,
  Mesh,
  Stages,
  Assigned,
  Layers,
  LayersOnly,
  Servers,
  Serving,
  ServerCount,
  Pieces,
  Cut
};

struct Step {
  const char* pass;
  Told told;
  bool (*wanted)(const Strategy&);
  const char* field = "";  // that asks for it
};

bool isPipelined(const Strategy& s) { return s.pipeline && isReplicated(s); }
bool always(const Strategy&) { return true; }
// Start-up makes variables of others, and ranks have some of them each.
bool makesOfStartup(const Strategy& s) {
  return (isPipelined(s) || isServed(s)) && (s.asp || s.lookahead);
}
bool mergesGradients(const Strategy& s) { return s.gradient_merge && s.gradient_merge_k_steps > 1; }
bool changesProgram(const Strategy& s) {
  return s.amp || s.recompute || s.lars || s.lamb || s.asp || s.lookahead || mergesGradients(s);
}
bool reducesGradients(const Strategy& s) { return isReplicated(s) && !isLocalSgd(s); }

// One rank's program of a group becomes the whole one, of which the others are made.
bool isLifted(const Strategy& s) { return isSplit(s) && s.input_parallel == "mp"; }

// The table of contents: passes in their order, what each is told of the strategy, when it runs,
// and the field that asked for it.
const Step kSteps[] = {
    {"lift-parallel-ops", Told::Nothing, isLifted, "input_parallel"},
    {"check-source", Told::Nothing, always},
    // What changes the program of one device; the other one is kept beside it.
    {"keep-source", Told::Nothing, changesProgram},
    {"amp", Told::Pieces, [](const Strategy& s) { return s.amp; }, "amp"},
    {"recompute", Told::Nothing, [](const Strategy& s) { return s.recompute; }, "recompute"},
    {"lars", Told::Nothing, [](const Strategy& s) { return s.lars; }, "lars"},
    {"lamb", Told::Nothing, [](const Strategy& s) { return s.lamb; }, "lamb"},
    {"asp", Told::Nothing, [](const Strategy& s) { return s.asp; }, "asp"},
    {"lookahead", Told::Pieces, [](const Strategy& s) { return s.lookahead; }, "lookahead"},
    {"gradient-merge", Told::Nothing, mergesGradients, "gradient_merge"},
    // Servers take over no branches.
    {"select-updates", Told::Nothing,
     [](const Strategy& s) {
       return isServed(s) && serveMode(s) == "sync" && (s.amp || s.lookahead);
     },
     "mode"},
    // Norms over servers are those of rounds.
    {"write-out-norms", Told::ServerCount,
     [](const Strategy& s) {
       return isServed(s) && serveMode(s) == "sync" && s.slice_var_up && serverCount(s) > 1;
     },
     "slice_var_up"},
    {"form-job", Told::Mesh, always},
    {"forward-startup", Told::Nothing, makesOfStartup},
    {"cut-batch", Told::Data, always},
    // The same initial values on all ranks that have parts of them; then the parts.
    {"broadcast-startup", Told::LayersOnly, isSplit, "tensor_parallel"},
    {"tensor-parallel", Told::Layers, isSplit, "tensor_parallel"},
    {"ps-place", Told::Servers, isUpdatedByServers, "mode"},
    {"ps-split", Told::Serving, isUpdatedByServers, "mode"},
    {"ps-place", Told::Serving, isGeo, "mode"},
    {"ps-exchange", Told::Servers, isGeo, "geo_sgd_mode"},
    {"ps-startup", Told::Axes, isServed, "mode"},
    {"broadcast-startup", Told::Data,
     [](const Strategy& s) { return isReplicated(s) && (!s.pipeline || isSharded(s)); }},
    {"scale-loss", Told::Data, reducesGradients},
    {"reduce-gradients", Told::Data, reducesGradients},
    {"fp16-all-reduce", Told::Axes,
     [](const Strategy& s) { return reducesGradients(s) && s.fp16_allreduce && !s.pipeline; },
     "fp16_allreduce"},
    {"dgc", Told::Axes, [](const Strategy& s) { return reducesGradients(s) && s.dgc; }, "dgc"},
    // Before stages are: what it puts in goes to those of the gradients and parameters.
    {"sharding", Told::Cut, [](const Strategy& s) { return isPipelined(s) && isSharded(s); },
     "sharding"},
    {"assign-stages", Told::Assigned, isPipelined, "pipeline"},
    {"pipeline", Told::Stages, isPipelined, "pipeline"},
    // What is left of sums over replicas and micro-batches: added up in full, then rounded once.
    {"fp16-all-reduce", Told::Axes,
     [](const Strategy& s) { return isPipelined(s) && s.fp16_allreduce; }, "fp16_allreduce"},
    {"broadcast-startup", Told::Axes,
     [](const Strategy& s) { return isPipelined(s) && !isSharded(s); }},
    {"local-sgd", Told::Axes, isLocalSgd, "collective_mode"},
    {"bucket", Told::Axes,
     [](const Strategy& s) { return isReplicated(s) && s.fuse_all_reduce_ops; },
     "fuse_all_reduce_ops"},
    // Takes buckets apart into those of parts and those of what stays whole.
    {"sharding", Told::Axes,
     [](const Strategy& s) { return isSharded(s) && !isOwned(s) && !isPipelined(s); }, "sharding"},
    {"sharding-owner", Told::Axes, [](const Strategy& s) { return isOwned(s) && !isPipelined(s); },
     "sharding_form"},
    // After the passes that look for gradients: a composite is no framework op.
    {"sync-batch-norm", Told::Axes, [](const Strategy& s) { return s.sync_batch_norm; },
     "sync_batch_norm"},
    {"declare-relations", Told::Axes, always},
    {"reduce-by-levels", Told::Axes,
     [](const Strategy& s) { return isReplicated(s) && s.use_hierarchical_allreduce; },
     "use_hierarchical_allreduce"},
    // Trainers of geo-SGD take the steps of one device on their shares: nothing is per share in
    // them.
    {"declare-sites", Told::Nothing, [](const Strategy& s) { return !isGeo(s); }},
};

// {axes=dp fuse_grad_size_in_MB=32}: where it works, and every field that is an option of it.
std::string optionsOf(const Step& step, const Strategy& strategy) {
  std::string names, data, mesh, text;
  for (const Axis& axis : axesOf(strategy)) names += (names.empty() ? "" : ",") + axis.name;
  for (const Axis& axis : meshOf(strategy))
    mesh += (mesh.empty() ? "" : ",") + axis.name + ":" + axis.size;
  data = names + (isPipelined(strategy) ? std::string(",") + kMicro : "");
  const bool servers = step.told == Told::Servers || step.told == Told::Serving;
  if (step.told == Told::Axes || servers) text += " axes=" + names;
  if (step.told == Told::Data || step.told == Told::Cut) text += " axes=" + data;
  if (step.told == Told::Stages || step.told == Told::Assigned)
    text += std::string(" axes=") + kStages;
  if (step.told == Told::Stages || step.told == Told::Cut) text += std::string(" micro=") + kMicro;
  if (step.told == Told::Assigned) text += strategy.stages ? " by=cost" : " by=annotations";
  if (step.told == Told::Layers || step.told == Told::LayersOnly)
    text += std::string(" axes=") + kLayers;
  if (step.told == Told::LayersOnly) text += " carries=layers";
  if (step.told == Told::Pieces &&
      (isPipelined(strategy) || isOwned(strategy) || isServed(strategy)))
    text += " apart=true";
  if (llvm::StringRef(step.pass) == "amp" && isServed(strategy)) text += " by_block=true";
  if (servers || step.told == Told::ServerCount)
    text += " servers=" + std::to_string(serverCount(strategy));
  if (step.told == Told::Serving) text += " serve=" + serveMode(strategy);
  // Trainers of servers do not speak to each other.
  if (step.told == Told::Mesh)
    text += " axes=" + mesh + " comm-axes=" + (isServed(strategy) ? "none" : data) +
            (isSplit(strategy) ? std::string(" layer-axis=") + kLayers : "");
  for (const FieldRow& row : strategyFields())
    if (llvm::is_contained(row.passes, step.pass))
      if (const std::string value = valueOf(strategy, row); !value.empty())
        text += " " + row.name.str() + "=" + value;
  return text.empty() ? "" : "{" + text.substr(1) + "}";
}

// The passes of a request, without the op that they run on.
std::string stepsOf(const Strategy& strategy) {
  std::string text;
  for (const Step& step : kSteps)
    if (step.wanted(strategy))
      text += (text.empty() ? "" : ",") + std::string(step.pass) + optionsOf(step, strategy);
  return text;
}

// Behind every pass of `transpile`: meshes, communicators, and what roles ask of the whole of
// themselves, on which the passes after it build. Ops one by one are verified once, at the end.
struct CheckStructure : mlir::PassWrapper<CheckStructure, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CheckStructure)
  void runOnOperation() override {
    for (mlir::Operation& op : *getOperation().getBody())
      if (llvm::isa<dist::MeshOp, dist::CommOp, dist::RoleOp>(op) &&
          mlir::failed(mlir::verify(&op, /*verifyRecursively=*/false)))
        return signalPassFailure();
    markAllAnalysesPreserved();
  }
};

// The fields of a request as options of a textual pipeline.
class RequestOptions : public mlir::PassPipelineOptions<RequestOptions> {
 public:
  RequestOptions() {
    for (const FieldRow& row : strategyFields())
      std::visit([&](auto member) { declare(row, member); }, row.member);
  }

  Strategy strategy() const {
    Strategy result;
    for (const auto& read : readers_) read(result);
    return result;
  }

 private:
  template <typename T>
  void declare(const FieldRow& row, T Strategy::* member) {
    auto option = std::make_shared<Option<T>>(*this, row.name, llvm::cl::desc(row.meaning),
                                              llvm::cl::init(Strategy().*member));
    readers_.push_back([=](Strategy& strategy) { strategy.*member = *option; });
  }
  void declare(const FieldRow& row, std::vector<std::string> Strategy::* member) {
    auto option =
        std::make_shared<ListOption<std::string>>(*this, row.name, llvm::cl::desc(row.meaning));
    readers_.push_back(
        [=](Strategy& strategy) { (strategy.*member).assign(option->begin(), option->end()); });
  }

  std::vector<std::function<void(Strategy&)>> readers_;
};

using ErrorHandler = llvm::function_ref<mlir::LogicalResult(const llvm::Twine&)>;

mlir::LogicalResult addRequest(mlir::OpPassManager& manager, llvm::StringRef options,
                               ErrorHandler fail) {
  std::unique_ptr<RequestOptions> request = RequestOptions::createFromString(options);
  if (!request) return mlir::failure();
  const std::vector<Problem> problems = problemsOf(request->strategy());
  for (const Problem& problem : problems) (void)fail(problem.message);
  if (!problems.empty()) return mlir::failure();
  return mlir::parsePassPipeline(stepsOf(request->strategy()), manager);
}

}  // namespace

std::string collectivePipeline(const Strategy& strategy) {
  return "builtin.module(" + stepsOf(strategy) + ")";
}

std::vector<PipelineStep> collectiveSteps(const Strategy& strategy) {
  registerCollectivePipeline();
  std::vector<PipelineStep> steps;
  for (const Step& step : kSteps)
    if (step.wanted(strategy))
      steps.push_back({step.pass, optionsOf(step, strategy),
                       mlir::PassInfo::lookup(step.pass)->getPassDescription().str(), step.field});
  return steps;
}

// The passes are named and given their options as text, the same that dtranspile-opt takes; a
// structural check stands behind each.
mlir::LogicalResult transpileCollective(mlir::ModuleOp module, const Strategy& strategy) {
  const std::vector<Problem> problems = problemsOf(strategy);
  for (const Problem& problem : problems) mlir::emitError(module.getLoc()) << problem.message;
  if (!problems.empty()) return mlir::failure();
  registerCollectivePipeline();
  mlir::PassManager manager(module.getContext());
  // All ops once, of what comes out: that behind every pass was a quarter of the time. What comes
  // out of each of them is verified where they are tested, by dtranspile-opt.
  manager.enableVerifier(false);
  for (const Step& step : kSteps) {
    if (!step.wanted(strategy)) continue;
    if (mlir::failed(mlir::parsePassPipeline(step.pass + optionsOf(step, strategy), manager)))
      return mlir::failure();
    manager.addPass(std::make_unique<CheckStructure>());
  }
  if (mlir::failed(manager.run(module))) return mlir::failure();
  if (mlir::succeeded(mlir::verify(module))) return mlir::success();
  return mlir::emitError(module.getLoc())
         << "what the passes have made is no valid job: dtranspile-opt with the pipeline that "
            "--print-pipeline shows verifies after every pass";
}

void registerCollectivePipeline() {
  static const bool once = [] {
    passes::registerAll();
    mlir::registerPassPipeline(
        "collective", "a saved program to a data-parallel job", addRequest,
        [](llvm::function_ref<void(const mlir::detail::PassOptions&)> visit) {
          visit(RequestOptions());
        });
    return true;
  }();
  (void)once;
}

}  // namespace dtranspile
