#include "compiler/lower/compile.h"

#include <chrono>

#include "compiler/lower/arena.h"
#include "compiler/lower/dist_lowering.h"
#include "compiler/lower/fuse.h"
#include "compiler/lower/in_place.h"
#include "compiler/lower/kernel/emit.h"
#include "compiler/lower/plan_writer.h"
#include "compiler/lower/server_lowering.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/declarations.h"
#include "dialects/pd/types.h"
#include "runtime/exec/layout.h"
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
  return equal && other && other.getType() == var.getType() &&
                 other->getAttr(dist::kAtAttr) == var->getAttr(dist::kAtAttr)
             ? other.getSymName().str()
             : "";
}

// Along which axes ranks do not have a variable alike, and what they have there: what is saved and
// loaded is each rank's. Of a multiple of a sum nothing is known but that.
std::vector<std::pair<std::string, std::string>> sharesOf(pd::VarOp var, dist::MeshOp mesh) {
  std::vector<std::pair<std::string, std::string>> shares;
  auto relation = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr);
  if (!relation || !mesh) return shares;
  for (auto axis : mesh.getAxes().getAsRange<mlir::StringAttr>()) {
    dist::AxisRelAttr state = relation.lookup(axis);
    if (!state || state.getState() == dist::StateKind::Replicated ||
        state.getState() == dist::StateKind::Split)
      continue;
    std::string text;
    llvm::raw_string_ostream os(text);
    state.heldBy({}).printInline(os);
    text.erase(0, text.find(": ") + 2);  // the axis
    if (relation.getNumerator() != relation.getDenominator())
      os << " scale " << relation.getNumerator() << '/' << relation.getDenominator();
    shares.emplace_back(axis.getValue().str(), std::move(text));
  }
  return shares;
}

// A buffer for every persistable of the symbol table; of one that is cut for a rank's part. Kinds
// that are no dense tensor have none, nor have those whose storage is other variables' (their parts
// are saved and loaded in its place): an op that uses one is refused.
LogicalResult addVariables(mlir::Operation* table, Plan& plan, Variables& variables) {
  auto vars = table->getRegion(0).getOps<pd::VarOp>();
  // Of one role, all of them: to look for it costs a walk over the table.
  dist::MeshOp mesh = vars.empty() ? dist::MeshOp() : dist::meshOf(*vars.begin());
  for (auto var : vars) {
    auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(var.getType());
    auto dtype = tensor ? pd::dtypeOf(tensor.getElementType()) : std::nullopt;
    if (!dtype || var->hasAttr(pd::kPartsAttr)) continue;
    auto layout = layoutOf(var, var, mesh);
    if (failed(layout)) return failure();
    std::vector<int64_t> dims(tensor.getShape().begin(), tensor.getShape().end());
    if (*layout) dims = exec::Parts(**layout, coordinatesOf(mesh, (*layout)->axes)).room_dims();
    else if (!tensor.hasStaticShape())
      return var.emitError() << "persistable " << var.getSymName()
                             << " has extents that are not known: " << tensor;
    for (auto [declared, own] : llvm::zip(tensor.getShape(), dims))
      if (dims.size() != tensor.getShape().size() || (declared >= 0 && declared != own))
        return var.emitError() << "persistable " << var.getSymName() << " is " << tensor
                               << ", which is no part of an extent of " << (*layout)->extent;
    const std::string name = var.getSymName().str();
    const int buffer = plan.addBuffer(
        {.name = name, .space = Space::Persistent, .dtype = *dtype, .dims = std::move(dims)});
    variables[name] = plan.persistables.size();
    plan.persistables.push_back({name, buffer, var.getParameter(), sharesOf(var, mesh),
                                 selectorOf(var->getAttrOfType<dist::SelAttr>(dist::kAtAttr)),
                                 std::move(*layout), beginsAs(var, table)});
  }
  return success();
}

LogicalResult good(mlir::Operation* at, const absl::Status& status) {
  return status.ok() ? success() : at->emitError() << std::string(status.message());
}

// The kernels of a plan as source, and where their names go.
// Kernels are keyed by their address: fusion has made them distinct objects, of which equal ones
// come to one symbol by their text.
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
  for (const PlanProgram& program : plan.programs) collect(program.body, target, sources);
  return sources;
}

// What one step runs, counted as written: the body of a loop once.
void count(const std::vector<Node>& body, CompileStatistics& statistics) {
  for (const Node& node : body) {
    for (const std::vector<Node>* inner : node.bodies()) count(*inner, statistics);
    ++statistics.nodes;
    statistics.kernelCalls += node.as<KernelNode>() != nullptr;
    statistics.copies += node.as<CopyNode>() != nullptr;
  }
}

// The programs of a plan, one after the other.
class PlanLowering {
 public:
  PlanLowering(Plan& plan, const CompileOptions& options) : plan_(plan), options_(options) {}

  // Variables first, as both programs refer to them; then start-up, and then the step or, of a
  // server, one program per handler.
  LogicalResult run(pd::ProgramOp main, pd::ProgramOp startup) {
    mlir::Operation* table = mlir::SymbolTable::getNearestSymbolTable(main->getParentOp());
    if (failed(addVariables(table, plan_, variables_))) return failure();
    addCommunicators(table, plan_);
    LoweringRequest first{.startup = true};
    PlanProgram begin{.name = "startup", .when = exec::When::kStartup};
    if (startup && failed(add(startup, *startup.getBodyBlock(), first, std::move(begin))))
      return failure();
    auto serve = main.getBodyBlock()->getOps<dist::ServeOp>();
    if (!serve.empty()) return addHandlers(main, *serve.begin());
    return add(main, *main.getBodyBlock(), options_.main, {});
  }

 private:
  // Fusion comes before updates in place: a temporary that fusion has removed needs no copy.
  LogicalResult add(pd::ProgramOp program, mlir::Block& block, const LoweringRequest& request,
                    PlanProgram named) {
    auto lowered =
        ProgramLowering(plan_, variables_, program, request, std::move(named)).run(block);
    if (failed(lowered)) return failure();
    plan_.programs.push_back(std::move(*lowered));
    fuseKernels(plan_, plan_.programs.back());
    updateInPlace(plan_, plan_.programs.back());
    return success();
  }

  // A server's main is what it does on requests: a program for each of its handlers.
  LogicalResult addHandlers(pd::ProgramOp main, dist::ServeOp serve) {
    for (mlir::Operation& op : *main.getBodyBlock())
      if (!llvm::isa<pd::DeclOp, dist::ServeOp>(op) ||
          (llvm::isa<dist::ServeOp>(op) && &op != serve))
        return op.emitError() << "stands beside dist.serve, which is all that a server's program "
                                 "does: move it into a handler";
    for (auto handler : serve.getBody().front().getOps<dist::HandleOp>()) {
      llvm::FailureOr<PlanProgram> named = programOf(handler);
      if (failed(named)) return failure();
      // Only what runs once per step has something to report.
      LoweringRequest request = options_.main;
      if (named->when != exec::When::kRound) request.fetches.clear();
      if (failed(add(main, handler.getBody().front(), request, *named))) return failure();
    }
    return success();
  }

  Plan& plan_;
  const CompileOptions& options_;
  Variables variables_;
};

}  // namespace

llvm::FailureOr<Plan> lowerPrograms(pd::ProgramOp main, pd::ProgramOp startup,
                                    const CompileOptions& options) {
  Plan plan;
  plan.role = options.role;
  plan.className = options.className;
  plan.digest = options.digest;
  if (failed(PlanLowering(plan, options).run(main, startup))) return failure();
  placeBuffers(plan);
  return plan;
}

// The plan and its library appear in `folder` at once, by one exchange of folders, or not at all;
// what stands there is replaced only if it is a compiled plan and nothing else, which is asked
// before the work and again at the exchange.
llvm::FailureOr<CompileStatistics> compilePrograms(pd::ProgramOp main, pd::ProgramOp startup,
                                                   const CompileOptions& options,
                                                   const std::string& folder) {
  const auto start = std::chrono::steady_clock::now();
  auto lowered = lowerPrograms(main, startup, options);
  if (failed(lowered)) return failure();
  const Plan& plan = *lowered;

  LibraryOptions library{.target = hostTarget(), .cache = options.cache};
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
  for (const PlanProgram& program : plan.programs)
    if (program.when != exec::When::kStartup) count(program.body, statistics);
  statistics.totalMs =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return statistics;
}

}  // namespace dtranspile::lower
