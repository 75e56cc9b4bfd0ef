#include "compiler/lower/compile.h"

#include <chrono>

#include "compiler/lower/arena.h"
#include "compiler/lower/fuse.h"
#include "compiler/lower/in_place.h"
#include "compiler/lower/kernel/emit.h"
#include "compiler/lower/plan_writer.h"
#include "dialects/dist/dist.h"
#include "dialects/pd/declarations.h"
#include "dialects/pd/types.h"
#include "runtime/io/filesystem.h"
#include "runtime/io/output.h"
#include "runtime/io/staged.h"

namespace dtranspile::lower {
namespace {

using llvm::failure;
using llvm::LogicalResult;
using llvm::success;

// A variable that a pass added, and that is declared to be another one's value on every rank: where
// a run is given that one's value only, it begins with it. Empty for others.
std::string beginsAs(pd::VarOp var, mlir::Operation* table) {
  auto relation = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr);
  if (!relation || relation.getVariable() == var.getSymNameAttr()) return "";
  const bool equal = relation.getNumerator() == 1 && relation.getDenominator() == 1 &&
                     llvm::all_of(relation.getAxes(), [](dist::AxisRelAttr axis) {
                       return axis.getState() == dist::StateKind::Replicated;
                     });
  auto other = llvm::dyn_cast_or_null<pd::VarOp>(
      mlir::SymbolTable::lookupSymbolIn(table, relation.getVariable()));
  return equal && other && other.getType() == var.getType() ? other.getSymName().str() : "";
}

// A buffer for every persistable of the symbol table. Kinds that are no dense tensor have none, nor
// have those whose storage is other variables' (their parts are saved and loaded in its place): an
// op that uses one is refused.
LogicalResult addVariables(mlir::Operation* table, const CompileOptions& options, Plan& plan,
                           llvm::StringMap<int>& variables) {
  for (auto var : table->getRegion(0).getOps<pd::VarOp>()) {
    auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(var.getType());
    auto dtype = tensor ? pd::dtypeOf(tensor.getElementType()) : std::nullopt;
    if (!dtype || var->hasAttr(pd::kPartsAttr)) continue;
    if (!tensor.hasStaticShape())
      return var.emitError() << "persistable " << var.getSymName()
                             << " has extents that are not known: " << tensor;
    auto dims = tensor.getShape();
    const std::string name = var.getSymName().str();
    const int buffer = plan.addBuffer({.name = name,
                                       .space = Space::Persistent,
                                       .dtype = *dtype,
                                       .dims = {dims.begin(), dims.end()}});
    variables[name] = buffer;
    auto relation = options.relations.find(name);
    plan.persistables.push_back(
        {name, buffer, var.getParameter(),
         relation == options.relations.end() ? decltype(relation->second){} : relation->second});
    plan.persistables.back().beginsAs = beginsAs(var, table);
  }
  return success();
}

LogicalResult good(mlir::Operation* at, const absl::Status& status) {
  return status.ok() ? success() : at->emitError() << std::string(status.message());
}

// The kernels of a plan as source, and where their names go.
struct Sources {
  std::vector<KernelSource> kernels;
  std::map<const Kernel*, std::string> symbols;
};

void collect(const std::vector<Node>& body, const Target& target, Sources& sources) {
  for (const Node& node : body) {
    for (const std::vector<Node>* inner : node.bodies()) collect(*inner, target, sources);
    const auto* kernel = node.as<KernelNode>();
    if (!kernel) continue;
    sources.kernels.push_back({emitKernel(*kernel->kernel), node.op});
    sources.symbols[kernel->kernel.get()] = symbolOf(sources.kernels.back(), target);
  }
}

Sources collect(const Plan& plan, const Target& target) {
  Sources sources;
  for (const PlanProgram* program : {plan.startup.get(), plan.main.get()}) {
    if (program) collect(program->body, target, sources);
  }
  return sources;
}

void count(const std::vector<Node>& body, CompileStatistics& statistics) {
  for (const Node& node : body) {
    for (const std::vector<Node>* inner : node.bodies()) count(*inner, statistics);
    ++statistics.nodes;
    statistics.kernelCalls += node.as<KernelNode>() != nullptr;
    statistics.copies += node.as<CopyNode>() != nullptr;
  }
}

}  // namespace

llvm::FailureOr<Plan> lowerPrograms(pd::ProgramOp main, pd::ProgramOp startup,
                                    const CompileOptions& options) {
  Plan plan;
  plan.role = options.role;
  plan.className = options.className;
  plan.digest = options.digest;
  llvm::StringMap<int> variables;
  mlir::Operation* table = mlir::SymbolTable::getNearestSymbolTable(main->getParentOp());
  if (failed(addVariables(table, options, plan, variables))) return failure();
  addCommunicators(table, plan);
  if (startup) {
    const LoweringRequest request{.startup = true};
    auto lowered = ProgramLowering(plan, variables, startup, request).run();
    if (failed(lowered)) return failure();
    plan.startup = std::move(*lowered);
    fuseKernels(plan, *plan.startup);
    updateInPlace(plan, *plan.startup);
  }
  auto lowered = ProgramLowering(plan, variables, main, options.main).run();
  if (failed(lowered)) return failure();
  plan.main = std::move(*lowered);
  fuseKernels(plan, *plan.main);
  updateInPlace(plan, *plan.main);
  placeBuffers(plan);
  return plan;
}

llvm::FailureOr<CompileStatistics> compilePrograms(pd::ProgramOp main, pd::ProgramOp startup,
                                                   const CompileOptions& options,
                                                   const std::string& folder) {
  const auto start = std::chrono::steady_clock::now();
  auto lowered = lowerPrograms(main, startup, options);
  if (failed(lowered)) return failure();
  const Plan& plan = *lowered;

  LibraryOptions library{
      .target = hostTarget(), .cache = options.cache, .threads = options.threads};
  Sources sources = collect(plan, library.target);
  auto accept = [&](const std::string& old) {
    if (io::HoldsOnly(old, {"plan.json", "kernels.so"})) return absl::OkStatus();
    return absl::AlreadyExistsError(
        folder +
        ": exists and is no compiled plan, or holds more than that: choose another folder");
  };
  const absl::StatusOr<io::Entry> there = io::LookAtLink(folder);
  if (there.ok() && *there == io::Entry::kFolder)
    if (failed(good(main, accept(folder)))) return failure();
  absl::StatusOr<io::StagedFolder> staging = io::StagedFolder::Create(folder);
  if (failed(good(main, staging.status()))) return failure();
  CompileStatistics statistics;
  std::string error;
  if (!sources.kernels.empty() &&
      failed(buildLibrary(sources.kernels, library, staging->path() + "/kernels.so",
                          statistics.library, error))) {
    return main.emitError() << error, failure();
  }
  const auto json =
      exec::WritePlan(toRuntime(plan, library.target, !sources.kernels.empty(), sources.symbols));
  if (!json.ok()) return main.emitError() << json.status().message(), failure();
  const auto size = static_cast<int64_t>(json->size());
  if (failed(good(main, io::WriteFile(staging->path() + "/plan.json", json->data(), size))))
    return failure();
  if (failed(good(main, staging->PublishOver(accept)))) return failure();
  count(plan.main->body, statistics);
  statistics.totalMs =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return statistics;
}

}  // namespace dtranspile::lower
