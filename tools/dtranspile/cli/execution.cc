#include "tools/dtranspile/cli/execution.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "compiler/analysis/program_info.h"
#include "compiler/artifact/fetches.h"
#include "compiler/verify/execution/feeds.h"
#include "compiler/verify/execution/outcome.h"
#include "dialects/dist/dist.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/infer.h"
#include "dialects/pd/types.h"
#include "mlir/IR/Diagnostics.h"
#include "runtime/base/status.h"
#include "runtime/io/feed.h"
#include "runtime/io/filesystem.h"
#include "runtime/io/npy.h"
#include "runtime/launch/ranks.h"
#include "runtime/trial/command.h"
#include "tools/dtranspile/cli/compiling.h"
#include "tools/dtranspile/cli/scratch.h"

namespace dtranspile::cli {
namespace {

using verify::FeedDemand;
using verify::Rung;
using Steps = std::vector<Tensor>;

// Draws of feeds that are tried: where the reference overflows, smaller numbers.
constexpr double kMagnitudes[] = {1, 0.25, 0.05};

int64_t opsIn(mlir::ModuleOp module) {
  int64_t count = 0;
  module->walk([&](mlir::Operation* op) { count += pd::OpView::isFrameworkOp(op); });
  return count;
}

int64_t float64Bytes(mlir::Operation* table) {
  int64_t elements = 0;
  for (auto var : table->getRegion(0).getOps<pd::VarOp>()) {
    const pd::TensorInfo info = pd::declaredInfo(var.getType());
    elements += std::max<int64_t>(info.elements(), 0);
  }
  return elements * static_cast<int64_t>(sizeof(double));
}

// Along which dim a role cuts each feed; -1: not at all.
std::map<std::string, int> batchDims(mlir::ModuleOp job) {
  std::map<std::string, int> dims;
  job->walk([&](pd::InputOp input) {
    if (auto batch = input->getAttrOfType<dist::BatchAttr>(dist::kBatchAttr))
      dims[input.getName().str()] = static_cast<int>(batch.getDim());
  });
  return dims;
}

// The single-device program as something to run.
Runnable referenceRunnable(mlir::ModuleOp reference) {
  Runnable runnable;
  RunnableRole role;
  role.classes.push_back(
      {{role.name, {}, 1}, mlir::OwningOpRef<mlir::ModuleOp>(reference.clone())});
  runnable.roles.push_back(std::move(role));
  return runnable;
}

// Rung 5 of verification: runs the job and its reference side by side in float64, on feeds that are
// drawn for it, in a process with limits, and compares. Whatever stands in the way is "not
// executed", which is no verdict.
class Execution {
 public:
  Execution(Tool& tool, const ExecutionFlags& flags) : tool_(tool), flags_(flags) {}

  Rung run(Job job) {
    mlir::ScopedDiagnosticHandler handler(tool_.context(), [this](mlir::Diagnostic& diagnostic) {
      if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error && said_.empty())
        said_ = describeLocation(diagnostic.getLocation()) + ": " + diagnostic.str();
      return mlir::success();
    });
    if (std::string why = tooLarge(*job.module); !why.empty()) return verify::notExecuted(why);
    if (job.manifest.is_null()) job.manifest = makeManifest(*job.module, {{"mode", ""}});
    scope_ = verify::executionScopeOf(*job.module);
    if (!scope_.refused.empty()) return verify::notExecuted(scope_.refused);
    Rung rung = verify::executionRung();
    if (const absl::Status done = execute(std::move(job), rung); !done.ok())
      return verify::notExecuted(std::string(done.message()));
    return rung;
  }

 private:
  std::string tooLarge(mlir::ModuleOp job) const;
  absl::Status prepare(Job job);
  absl::Status execute(Job job, Rung& rung);
  absl::Status drawFeeds(size_t attempt);
  absl::Status writeFeed(const std::string& folder, const FeedDemand& demand, const Steps& steps,
                         std::vector<FeedData>& feeds) const;
  absl::StatusOr<std::vector<exec::WorkerConfig>> compile(Runnable& runnable,
                                                          const std::vector<FeedData>& feeds,
                                                          const std::vector<std::string>& fetches,
                                                          const std::string& folder);
  absl::StatusOr<trial::Config> configure(const std::vector<std::string>& fetches,
                                          const std::string& name);
  absl::StatusOr<trial::Result> attempt();
  std::vector<trial::Difference> compareValues();
  std::map<std::string, std::vector<double>> unsetVariables();
  std::vector<std::string> parameters();
  absl::Status failure(const char* what) const {
    return absl::FailedPreconditionError(absl::StrCat(what, said_.empty() ? "" : ": ", said_));
  }

  Tool& tool_;
  const ExecutionFlags& flags_;
  std::string said_;  // the first error of the compiler
  verify::ExecutionScope scope_;
  Runnable job_, reference_;
  std::string loss_;
  std::vector<FeedDemand> demands_;
  std::map<std::string, int> batch_;
  std::optional<io::OwnedFolder> scratch_;
  std::vector<FeedData> whole_, part_;  // feeds of the job, and of one part of equal ones
};

// Limits on ops, ranks and memory, so that a verification that nobody asked to execute stays quick.
// Returns why not; empty where it fits.
std::string Execution::tooLarge(mlir::ModuleOp job) const {
  const ExecutionLimits& limits = flags_.limits;
  mlir::ModuleOp reference = referenceModule(job);
  const bool asked = limits.ops == kAsked.ops;
  const char* remedy = asked ? "" : "; --execute asks for it all the same";
  if (!reference) return "the job holds no reference program";
  if (const int64_t ops = opsIn(reference); ops > limits.ops)
    return absl::StrCat("the reference has ", ops, " ops, the limit is ", limits.ops, remedy);
  int64_t ranks = 0;
  int64_t bytes = (flags_.steps + 2) * float64Bytes(reference);
  for (dist::RoleOp role : job.getOps<dist::RoleOp>()) {
    dist::MeshOp mesh = dist::meshOf(role);
    const int64_t count = mesh ? mesh.ranks() : 1;
    ranks += count;
    if (ranks > limits.ranks)
      return absl::StrCat("the job has ", ranks, " ranks or more, the limit is ", limits.ranks,
                          remedy);
    bytes += count * float64Bytes(role);
  }
  if (bytes > limits.bytes)
    return absl::StrCat("the variables take ", bytes >> 20, " MiB, the limit is ",
                        limits.bytes >> 20, " MiB", remedy);
  return "";
}

// Variables that the start-up program leaves alone and the step does not write: they are values
// that a user sets before each step (a rate), and get one here.
std::map<std::string, std::vector<double>> Execution::unsetVariables() {
  mlir::ModuleOp module = *reference_.roles.front().classes.front().module;
  std::set<std::string> set;
  for (const char* name : {"main", "startup"})
    if (pd::ProgramOp program = findProgram(module, name))
      program->walk([&](pd::SetOp op) { set.insert(op.getVar().str()); });
  std::map<std::string, std::vector<double>> values;
  for (auto var : module.getOps<pd::VarOp>()) {
    const pd::TensorInfo info = pd::declaredInfo(var.getType());
    if (set.count(var.getSymName().str()) || info.kind != pd::Kind::Tensor || var.getParameter())
      continue;
    const bool real = info.dtype == DType::kFloat32 || info.dtype == DType::kFloat64;
    if (!real && info.dtype != DType::kInt64 && info.dtype != DType::kInt32) continue;
    std::vector<double>& steps = values[var.getSymName().str()];
    for (int64_t step = 0; step < flags_.steps; ++step)
      steps.push_back(real ? 0.05 / static_cast<double>(step + 1) : 1);
  }
  return values;
}

std::vector<std::string> Execution::parameters() {
  std::vector<std::string> names;
  for (auto var : (*reference_.roles.front().classes.front().module).getOps<pd::VarOp>())
    if (var.getParameter()) names.push_back(var.getSymName().str());
  return names;
}

// The job and its reference as programs that can be run, in a scratch folder.
absl::Status Execution::prepare(Job job) {
  DT_ASSIGN_OR_RETURN(io::OwnedFolder scratch, makeScratch());
  scratch_.emplace(std::move(scratch));
  mlir::ModuleOp reference = referenceModule(*job.module);
  batch_ = batchDims(*job.module);
  pd::ProgramOp main = findProgram(reference, "main");
  demands_ = verify::demandsOn(main);
  loss_ = findLoss(main);
  reference_ = referenceRunnable(reference);
  mlir::FailureOr<Runnable> runnable = runnableOf(std::move(job));
  if (mlir::failed(runnable)) return failure("the job cannot be run");
  job_ = std::move(*runnable);
  const bool held = llvm::any_of(job_.roles, [&](RunnableRole& role) {
    return llvm::any_of(role.classes, [&](RunnableClass& one) { return holds(job_, one, loss_); });
  });
  if (!held) loss_.clear();
  return absl::OkStatus();
}

absl::Status Execution::writeFeed(const std::string& folder, const FeedDemand& demand,
                                  const Steps& steps, std::vector<FeedData>& feeds) const {
  // Names are those of variables, which may be anything.
  const std::string stem = absl::StrCat(folder, "/", feeds.size());
  FeedData& feed = feeds.emplace_back();
  feed.name = demand.name;
  feed.dims = steps.front().dims;
  feed.steps = static_cast<int64_t>(steps.size());
  feed.ragged = demand.lodLevel > 0;
  feed.file = feed.ragged ? stem : stem + ".npy";
  if (feed.ragged) {
    for (size_t i = 0; i < steps.size(); ++i)
      DT_RETURN_IF_ERROR(
          io::WriteStep(stem, static_cast<int64_t>(i), steps[i].view(), steps[i].lod));
    return absl::OkStatus();
  }
  DT_ASSIGN_OR_RETURN(io::NpyStack stack,
                      io::NpyStack::Create(feed.file, steps.front().dtype, feed.dims, feed.steps));
  for (const Tensor& step : steps) DT_RETURN_IF_ERROR(stack.Append(step.view()));
  return stack.Finish();
}

// Draws every feed twice: the whole batch for the job, and its first part for a reference that
// takes one of equal parts. Attempts differ in seed and magnitude, since values that are too large
// may make the reference itself diverge.
absl::Status Execution::drawFeeds(size_t attempt) {
  verify::FeedPlan plan;
  plan.parts = scope_.parts;
  plan.equal = scope_.equal;
  plan.seed = attempt + 1;
  plan.magnitude = kMagnitudes[attempt];
  const std::string whole = absl::StrCat(scratch_->path(), "/feeds", attempt);
  const std::string part = whole + ".part";
  DT_RETURN_IF_ERROR(io::MakeFolders(whole));
  DT_RETURN_IF_ERROR(io::MakeFolders(part));
  whole_.clear();
  part_.clear();
  for (const FeedDemand& demand : demands_) {
    const auto found = batch_.find(demand.name);
    const int batch = found == batch_.end() ? -1 : found->second;
    Steps steps, parts;
    for (int64_t step = 0; step < flags_.steps; ++step) {
      absl::StatusOr<Tensor> value = verify::makeFeed(demand, batch, plan, step);
      if (!value.ok())
        return absl::Status(value.status().code(),
                            absl::StrCat("feed `", demand.name, "` ", value.status().message()));
      DT_ASSIGN_OR_RETURN(Tensor first, verify::firstPart(*value, batch, plan.parts));
      steps.push_back(*std::move(value));
      parts.push_back(std::move(first));
    }
    DT_RETURN_IF_ERROR(writeFeed(whole, demand, steps, whole_));
    DT_RETURN_IF_ERROR(writeFeed(part, demand, parts, part_));
  }
  return absl::OkStatus();
}

// Plans of all classes, and what every rank is told.
absl::StatusOr<std::vector<exec::WorkerConfig>> Execution::compile(
    Runnable& runnable, const std::vector<FeedData>& feeds, const std::vector<std::string>& fetches,
    const std::string& folder) {
  launch::JobSpec spec;
  spec.digest = runnable.digest;
  const Compiling options = {flags_.cache, true, false};
  for (auto [number, role] : llvm::enumerate(runnable.roles)) {
    launch::Role& target = spec.roles.emplace_back();
    target.name = role.name;
    target.mesh = role.mesh;
    std::vector<std::string> folders;
    for (auto [index, one] : llvm::enumerate(role.classes)) {
      folders.push_back(absl::StrCat(folder, "/", number, ".", index));
      if (mlir::failed(
              compileClass(tool_, runnable, role, one, feeds, fetches, options, folders.back())))
        return failure("not every op runs natively");
    }
    for (size_t index : role.classOfRanks()) {
      target.plans.push_back(folders[index]);
      target.classes.push_back(role.classes[index].ranks.name);
    }
  }
  for (const FeedData& feed : feeds) spec.feeds.push_back({feed.name, feed.file});
  spec.per_step = unsetVariables();
  for (auto it = spec.per_step.begin(); it != spec.per_step.end();)
    it = runnable.hasVariable(it->first) ? std::next(it) : spec.per_step.erase(it);
  spec.steps = flags_.steps;
  spec.fetch = fetches;
  spec.threads = 1;
  spec.seed = 1;
  DT_ASSIGN_OR_RETURN(launch::Ranks ranks, launch::MakeRanks(spec));
  std::vector<exec::WorkerConfig> configs;
  for (launch::Rank& rank : ranks.ranks) configs.push_back(std::move(rank.config));
  return configs;
}

// Compiles everything with these fetches, and writes down what the trial process is to compare.
absl::StatusOr<trial::Config> Execution::configure(const std::vector<std::string>& fetches,
                                                   const std::string& name) {
  const std::string folder = scratch_->path() + "/" + name;
  DT_RETURN_IF_ERROR(io::MakeFolders(folder));
  trial::Config config;
  DT_ASSIGN_OR_RETURN(config.ranks, compile(job_, whole_, fetches, folder + "/job"));
  // Of equal parts one is enough; where the loss is a sum, the whole batch is another step.
  std::vector<const std::vector<FeedData>*> feeds;
  if (scope_.equal) feeds.push_back(&part_);
  if (!scope_.equal || !scope_.draws) feeds.push_back(&whole_);
  for (auto [index, one] : llvm::enumerate(feeds)) {
    DT_ASSIGN_OR_RETURN(auto reference, compile(reference_, *one, fetches,
                                                absl::StrCat(folder, "/reference", index)));
    config.references.push_back(std::move(reference.front()));
  }
  for (const std::string& fetch : fetches) {
    const auto known = job_.combine.find(fetch);
    if (known != job_.combine.end()) config.fetches.push_back({fetch, known->second});
  }
  config.variables = scope_.variables;
  config.loss = loss_;
  config.parameters = parameters();
  config.equal_draws = scope_.equal;
  config.limits.cpu_seconds = static_cast<int64_t>(2 * flags_.limits.seconds) + 1;
  config.limits.bytes = flags_.limits.bytes + (int64_t{8} << 30);
  return config;
}

absl::StatusOr<trial::Result> Execution::attempt() {
  std::vector<std::string> fetches;
  if (!loss_.empty()) fetches.push_back(loss_);
  DT_ASSIGN_OR_RETURN(const trial::Config config, configure(fetches, "step"));
  return trial::RunApart(config, flags_.limits.seconds);
}

// Another execution with every value of the step that ranks hold together, to find the first op
// that is wrong. Nothing where that cannot be run.
std::vector<trial::Difference> Execution::compareValues() {
  std::vector<std::string> names;
  for (RunnableRole& role : job_.roles) {
    pd::ProgramOp main = findProgram(role.op, "main");
    if (!main) continue;
    std::vector<std::string> own;
    for (mlir::Operation& op : *main.getBodyBlock())
      for (mlir::Value result : op.getResults()) {
        const std::string name = dist::nameOf(result).str();
        const auto type = mlir::dyn_cast<mlir::RankedTensorType>(dist::unlocated(result.getType()));
        if (!name.empty() && type && !llvm::is_contained(names, name) && !job_.hasVariable(name) &&
            !llvm::is_contained(own, name))
          own.push_back(name);
      }
    for (const verify::FetchRelation& one : verify::fetchRelations(*job_.job, role.op, own)) {
      if (one.combine == "list" || one.relation == "?") continue;
      const bool held = llvm::any_of(
          role.classes, [&](RunnableClass& each) { return holds(job_, each, one.name); });
      pd::ProgramOp reference =
          findProgram(*reference_.roles.front().classes.front().module, "main");
      if (!held || !lastNamed(reference, one.name)) continue;
      job_.combine[one.name] = one.combine;
      names.push_back(one.name);
    }
  }
  auto config = configure(names, "values");
  if (!config.ok()) return {};
  config->variables.clear();
  config->loss.clear();
  auto result = trial::RunApart(*config, flags_.limits.seconds);
  return result.ok() ? std::move(result->differences) : std::vector<trial::Difference>();
}

// The first attempt that neither fails nor runs wild counts. If something differs, a second run
// fetches values on the way, to name the first op that differs.
absl::Status Execution::execute(Job job, Rung& rung) {
  DT_RETURN_IF_ERROR(prepare(std::move(job)));
  trial::Result result;
  for (size_t attempt = 0; attempt < std::size(kMagnitudes); ++attempt) {
    DT_RETURN_IF_ERROR(drawFeeds(attempt));
    DT_ASSIGN_OR_RETURN(result, this->attempt());
    if (!result.wild && result.failure.empty()) break;
  }
  std::vector<trial::Difference> values;
  if (!result.differences.empty() && result.differences.front().step >= 0) values = compareValues();
  int64_t ranks = 0;
  for (const RunnableRole& role : job_.roles) ranks += role.ranks();
  rung.stat("ranks", ranks);
  rung.stat("steps", flags_.steps);
  rung.stat("tensors", result.compared);
  verify::addOutcome(*job_.job, scope_, result, values, rung);
  return absl::OkStatus();
}

}  // namespace

verify::Rung executeJob(Tool& tool, Job job, const ExecutionFlags& flags) {
  return Execution(tool, flags).run(std::move(job));
}

}  // namespace dtranspile::cli
