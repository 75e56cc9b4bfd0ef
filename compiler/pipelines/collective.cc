#include "compiler/pipelines/collective.h"

#include <functional>
#include <memory>

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "passes/passes.h"

namespace dtranspile {
namespace {

bool isLocalSgd(const Strategy& s) {
  return s.mode == "collective" && s.collective_mode == "local_sgd";
}

struct Axis {
  std::string name;
  int64_t size;
};

bool isServed(const Strategy& s) { return s.mode == "pserver"; }
bool isReplicated(const Strategy& s) { return !isServed(s); }

// The axes of the trainers' mesh, all of them data-parallel.
std::vector<Axis> axesOf(const Strategy& s) {
  if (!s.use_hierarchical_allreduce || isServed(s)) return {{"dp", s.trainers}};
  const int64_t inner = s.hierarchical_allreduce_inter_nranks;
  return {{"inter", s.trainers / inner}, {"intra", inner}};
}

// What a pass is told beside the fields that are its options.
enum class Told { Nothing, Axes, Mesh, Servers, Serving };

struct Step {
  const char* pass;
  Told told;
  bool (*wanted)(const Strategy&);
  const char* field = "";  // that asks for it
};

bool always(const Strategy&) { return true; }
bool mergesGradients(const Strategy& s) { return s.gradient_merge && s.gradient_merge_k_steps > 1; }
bool changesProgram(const Strategy& s) { return s.amp || s.lars || s.lamb || mergesGradients(s); }
bool reducesGradients(const Strategy& s) { return isReplicated(s) && !isLocalSgd(s); }

const Step kSteps[] = {
    {"check-source", Told::Nothing, always},
    // What changes the program of one device; the other one is kept beside it.
    {"keep-source", Told::Nothing, changesProgram},
    {"amp", Told::Nothing, [](const Strategy& s) { return s.amp; }, "amp"},
    {"lars", Told::Nothing, [](const Strategy& s) { return s.lars; }, "lars"},
    {"lamb", Told::Nothing, [](const Strategy& s) { return s.lamb; }, "lamb"},
    {"gradient-merge", Told::Nothing, mergesGradients, "gradient_merge"},
    {"form-job", Told::Mesh, always},
    {"cut-batch", Told::Axes, always},
    {"ps-place", Told::Servers, isServed, "mode"},
    {"ps-split", Told::Serving, isServed, "mode"},
    {"ps-startup", Told::Axes, isServed, "mode"},
    {"broadcast-startup", Told::Axes, isReplicated},
    {"scale-loss", Told::Axes, reducesGradients},
    {"reduce-gradients", Told::Axes, reducesGradients},
    {"local-sgd", Told::Axes, isLocalSgd, "collective_mode"},
    {"bucket", Told::Axes,
     [](const Strategy& s) { return isReplicated(s) && s.fuse_all_reduce_ops; },
     "fuse_all_reduce_ops"},
    // After the passes that look for gradients: a composite is no framework op.
    {"sync-batch-norm", Told::Axes, [](const Strategy& s) { return s.sync_batch_norm; },
     "sync_batch_norm"},
    {"declare-relations", Told::Axes, always},
    {"reduce-by-levels", Told::Axes,
     [](const Strategy& s) { return isReplicated(s) && s.use_hierarchical_allreduce; },
     "use_hierarchical_allreduce"},
    {"declare-sites", Told::Nothing, always},
};

// {axes=dp fuse_grad_size_in_MB=32}: where it works, and every field that is an option of it.
std::string optionsOf(const Step& step, const Strategy& strategy) {
  std::string names, mesh, text;
  for (const Axis& axis : axesOf(strategy)) {
    names += (names.empty() ? "" : ",") + axis.name;
    mesh += (mesh.empty() ? "" : ",") + axis.name + ":" + std::to_string(axis.size);
  }
  const bool servers = step.told == Told::Servers || step.told == Told::Serving;
  if (step.told == Told::Axes || servers) text += " axes=" + names;
  if (servers) text += " servers=" + std::to_string(serverCount(strategy));
  if (step.told == Told::Serving) text += " serve=" + serveMode(strategy);
  // Trainers of servers do not speak to each other.
  if (step.told == Told::Mesh)
    text += " axes=" + mesh + " comm-axes=" + (isServed(strategy) ? "none" : names);
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

mlir::LogicalResult transpileCollective(mlir::ModuleOp module, const Strategy& strategy) {
  const std::vector<Problem> problems = problemsOf(strategy);
  for (const Problem& problem : problems) mlir::emitError(module.getLoc()) << problem.message;
  if (!problems.empty()) return mlir::failure();
  registerCollectivePipeline();
  mlir::PassManager manager(module.getContext());
  if (mlir::failed(mlir::parsePassPipeline(stepsOf(strategy), manager))) return mlir::failure();
  return manager.run(module);
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
