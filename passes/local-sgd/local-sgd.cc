// Averages parameters at the end of every step (the framework's collective mode local_sgd), or in a
// branch at the end of some. In place of scale-loss and reduce-gradients; bucket then joins the
// reductions.
#include "compiler/analysis/relations/averages.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/MapVector.h"
#include "passes/local-sgd/adaptation.h"
#include "passes/local-sgd/pass.h"
#include "passes/support/branch.h"
#include "passes/support/job.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_LOCALSGD
#include "passes/local-sgd/pass.h.inc"

namespace {

// A parameter with the op at the top that sets it last (a pd.set, or a branch with one), its copy,
// and, once started, the summed delta.
struct Parameter {
  pd::VarOp var, snapshot;
  mlir::Operation* last = nullptr;
  mlir::Value copy, delta;

  std::string deltaName() { return (var.getSymName() + "@DELTA").str(); }
};

class LocalSgd : public impl::LocalSgdBase<LocalSgd> {
 public:
  using LocalSgdBase::LocalSgdBase;

  // Three forms: averages in every step (by the sum of what each replica has changed since its
  // copy, the framework's collective mode), in every k-th step, or in steps that adapt to the loss.
  void runOnOperation() override {
    mlir::FailureOr<JobOnAxes> job = jobOnAxes(getOperation(), axes);
    if (mlir::failed(job)) return signalPassFailure();
    auto comms = commsCarrying(getOperation(), kGradients, job->axes);
    if (mlir::failed(comms)) return signalPassFailure();
    if (!job->startup) {
      job->role.emitError(
          "local_sgd keeps a copy of every parameter from start-up on: the job needs a pd.program "
          "@startup");
      return signalPassFailure();
    }
    mlir::FailureOr<std::vector<Parameter>> parameters = collect(*job);
    if (mlir::failed(parameters)) return signalPassFailure();
    pd::Declarations declarations;
    if (adaptive_localsgd) return averageAdaptively(*job, *parameters, *comms, declarations);
    if (localsgd_k_steps > 1)
      return averageInSome(*job, *parameters, *comms,
                           {localsgd_k_steps.getValue(), localsgd_begin_step.getValue()},
                           declarations);
    for (auto [index, parameter] : llvm::enumerate(*parameters)) {
      addSnapshot(*job, parameter, declarations);
      startDelta(parameter, symbolOf((*comms)[index % comms->size()]), declarations);
    }
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(job->main.getBodyBlock());
    for (Parameter& parameter : *parameters)
      average(builder, parameter, 1.0 / static_cast<double>(job->ranks), declarations);
    addContract(getOperation(), "local_sgd",
                "parameters are averaged at the end of every step; gradients are not reduced, "
                "optimizer state stays with its rank",
                {});
  }

 private:
  // All replicas take the branch in the same steps, for all count alike. In a branch no delta is
  // kept: parameters themselves are summed and divided, after the last set of each.
  void averageInSome(JobOnAxes& job, std::vector<Parameter>& parameters,
                     llvm::ArrayRef<dist::CommOp> comms, const verify::Period& period,
                     pd::Declarations& declarations) {
    if (job.ranks == 1) return;
    mlir::Operation* branch =
        addBranch(job.main, dueIn(job, period, declarations),
                  declarations.freshName(job.main.getBodyBlock(), "local_sgd_scope"), declarations);
    averageIn(branch, job, parameters, comms, declarations);
    addContract(getOperation(), "local_sgd", verify::statementOf(period), {});
  }

  void averageAdaptively(JobOnAxes& job, std::vector<Parameter>& parameters,
                         llvm::ArrayRef<dist::CommOp> comms, pd::Declarations& declarations) {
    if (job.ranks == 1) return;
    const verify::AdaptivePeriod period{adaptive_localsgd_init_k_steps.getValue(),
                                        adaptive_localsgd_begin_step.getValue()};
    Adaptation adaptation(job, period, symbolOf(comms.front()), declarations);
    if (mlir::failed(adaptation.find())) return signalPassFailure();
    averageIn(adaptation.addAverage(), job, parameters, comms, declarations);
    adaptation.addRest();
    addContract(getOperation(), "local_sgd", verify::statementOf(period), {});
  }

  // The mean over the replicas of every parameter, as it is at the end of the step.
  static void averageIn(mlir::Operation* branch, JobOnAxes& job, std::vector<Parameter>& parameters,
                        llvm::ArrayRef<dist::CommOp> comms, pd::Declarations& declarations) {
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(&branch->getRegion(0).front());
    for (auto [index, parameter] : llvm::enumerate(parameters)) {
      mlir::Value own = pd::GetOp::create(builder, parameter.last->getLoc(),
                                          parameter.var.getType(), symbolNamed(parameter.var));
      parameter.delta = sumOver(builder, own.getLoc(), own, symbolOf(comms[index % comms.size()]));
    }
    for (Parameter& parameter : parameters) {
      mlir::Value mean = scale(builder, parameter.delta.getLoc(), parameter.delta,
                               1.0 / static_cast<double>(job.ranks), parameter.var.getSymName(),
                               pd::kOptimize, declarations);
      pd::SetOp::create(builder, mean.getLoc(), symbolNamed(parameter.var), mean);
    }
    pd::YieldOp::create(builder, job.main.getLoc(), mlir::ValueRange());
  }

  static mlir::FlatSymbolRefAttr symbolNamed(pd::VarOp var) {
    return mlir::FlatSymbolRefAttr::get(var.getSymNameAttr());
  }

  // step <= begin, or (step - begin) mod every == 0; steps are counted from 1.
  static mlir::Value dueIn(JobOnAxes& job, const verify::Period& period,
                           pd::Declarations& declarations) {
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(job.main.getBodyBlock());
    mlir::Location loc = job.main.getLoc();
    auto number = mlir::RankedTensorType::get({1}, builder.getI64Type());
    auto flag = mlir::RankedTensorType::get({1}, builder.getI1Type());
    pd::VarOp counter = addCounter(job, number, declarations);
    const auto make = [&](llvm::StringRef type, llvm::ArrayRef<pd::InputSlot> inputs,
                          llvm::StringRef stem, mlir::Type result,
                          llvm::ArrayRef<mlir::NamedAttribute> attributes) {
      const std::string name = declarations.freshName(job.main.getBodyBlock(), stem);
      return declarations
          .create(builder, loc, type, inputs, {{"Out", {{name, result}}}}, attributes,
                  pd::kOptimize)
          .output("Out");
    };
    const auto constant = [&](llvm::StringRef stem, int64_t value) {
      return fill(builder, loc, declarations.freshName(job.main.getBodyBlock(), stem), number,
                  value, pd::kOptimize, declarations);
    };
    const auto compare = [&](llvm::StringRef type, mlir::Value x, mlir::Value y,
                             llvm::StringRef stem, mlir::Type result) {
      return make(type, {{"X", {x}}, {"Y", {y}}}, stem, result,
                  {builder.getNamedAttr("axis", builder.getI32IntegerAttr(-1))});
    };
    mlir::Value last = pd::GetOp::create(builder, loc, number, symbolNamed(counter));
    mlir::Value step =
        declarations
            .create(builder, loc, "increment", {{"X", {last}}},
                    {{"Out", {{counter.getSymName().str(), number}}}},
                    {builder.getNamedAttr("step", builder.getF32FloatAttr(1))}, pd::kOptimize)
            .output("Out");
    pd::SetOp::create(builder, loc, symbolNamed(counter), step);
    mlir::Value begin = constant("local_sgd_begin", period.begin);
    mlir::Value early = compare("less_equal", step, begin, "local_sgd_early", flag);
    mlir::Value since = compare("elementwise_sub", step, begin, "local_sgd_since", number);
    mlir::Value rest = compare("elementwise_mod", since, constant("local_sgd_k", period.every),
                               "local_sgd_rest", number);
    mlir::Value due = compare("equal", rest, constant("local_sgd_zero", 0), "local_sgd_due", flag);
    return make("logical_or", {{"X", {early}}, {"Y", {due}}}, "local_sgd_cond", flag, {});
  }

  static mlir::Value fill(mlir::OpBuilder& builder, mlir::Location loc, const std::string& name,
                          mlir::RankedTensorType type, int64_t value, int role,
                          pd::Declarations& declarations) {
    const auto dtype = static_cast<int32_t>(*pd::dtypeOf(type.getElementType()));
    return declarations
        .create(builder, loc, "fill_constant", {}, {{"Out", {{name, type}}}},
                {builder.getNamedAttr("dtype", builder.getI32IntegerAttr(dtype)),
                 builder.getNamedAttr("shape", builder.getDenseI64ArrayAttr(type.getShape())),
                 builder.getNamedAttr("value", builder.getF32FloatAttr(static_cast<float>(value)))},
                role)
        .output("Out");
  }

  // Zero after start-up.
  static pd::VarOp addCounter(JobOnAxes& job, mlir::RankedTensorType type,
                              pd::Declarations& declarations) {
    const std::string name = declarations.freshName(job.main.getBodyBlock(), "local_sgd_step");
    mlir::OpBuilder builder(job.main);
    auto var = pd::VarOp::create(builder, job.main.getLoc(), builder.getStringAttr(name),
                                 mlir::TypeAttr::get(type), mlir::UnitAttr());
    for (pd::ProgramOp program : {job.main, job.startup}) {
      declarations.declare(program.getBodyBlock(), name, type);
      declarations.find(program.getBodyBlock(), name).setPersistable(true);
    }
    builder.setInsertionPointToEnd(job.startup.getBodyBlock());
    mlir::Value zero = fill(builder, var.getLoc(), name, type, 0, pd::kForward, declarations);
    pd::SetOp::create(builder, var.getLoc(), symbolNamed(var), zero);
    return var;
  }

  // Parameters in order of their last set. One that is updated in a branch of the update (a step
  // that overflows, of amp, leaves it out) is what it is behind the branch.
  static mlir::FailureOr<std::vector<Parameter>> collect(JobOnAxes& job) {
    llvm::MapVector<mlir::StringAttr, mlir::Operation*> last;
    mlir::Block* top = job.main.getBodyBlock();
    mlir::LogicalResult good = mlir::success();
    forEachUpdate(job.main, [&](pd::OpView update, llvm::StringRef name) {
      mlir::Operation* op = update.operation();
      if (op->getBlock() != top && !isBranchOfUpdate(op->getParentOp()))
        good = op->emitError("local_sgd: parameter '")
               << name << "' is updated inside a sub-block; not supported";
      last[mlir::StringAttr::get(op->getContext(), name)] = nullptr;
    });
    if (mlir::failed(good)) return mlir::failure();
    top->walk([&](pd::SetOp set) {
      if (auto found = last.find(set.getVarAttr().getAttr()); found != last.end())
        found->second = inBlock(top, set);
    });
    std::vector<Parameter> parameters;
    for (auto& [name, op] : last) {
      auto var =
          llvm::dyn_cast_or_null<pd::VarOp>(mlir::SymbolTable::lookupSymbolIn(job.role, name));
      if (var && op) parameters.push_back({var, {}, op, {}, {}});
    }
    return parameters;
  }

  // The value of a parameter that all replicas had after the last averaging. Start-up sets it to
  // the initial value, which is the same on all.
  static void addSnapshot(JobOnAxes& job, Parameter& parameter, pd::Declarations& declarations) {
    pd::VarOp var = parameter.var;
    mlir::OpBuilder builder(var.getContext());
    builder.setInsertionPointAfter(var);
    auto name = builder.getStringAttr(var.getSymName() + "@SNAPSHOT");
    parameter.snapshot =
        pd::VarOp::create(builder, var.getLoc(), name, var.getTypeAttr(), mlir::UnitAttr());
    parameter.snapshot->setAttr(dist::kRelAttr, dist::RelAttr::of(var.getSymNameAttr()));
    builder.setInsertionPointToEnd(job.startup.getBodyBlock());
    mlir::Value initial = pd::GetOp::create(builder, var.getLoc(), var.getType(),
                                            mlir::FlatSymbolRefAttr::get(var.getSymNameAttr()));
    pd::SetOp::create(builder, var.getLoc(), mlir::FlatSymbolRefAttr::get(name), initial);
    for (pd::ProgramOp program : {job.main, job.startup}) {
      declarations.declare(program.getBodyBlock(), name.getValue(), var.getType());
      declarations.find(program.getBodyBlock(), name.getValue()).setPersistable(true);
    }
  }

  // The sum over the replicas of how far each has come since, snapshot − parameter, begun where the
  // parameter is final, so that it travels while others are updated.
  static void startDelta(Parameter& parameter, mlir::FlatSymbolRefAttr comm,
                         pd::Declarations& declarations) {
    mlir::OpBuilder builder(parameter.var.getContext());
    builder.setInsertionPointAfter(parameter.last);
    mlir::Location loc = parameter.last->getLoc();
    parameter.copy =
        pd::GetOp::create(builder, loc, parameter.var.getType(),
                          mlir::FlatSymbolRefAttr::get(parameter.snapshot.getSymNameAttr()));
    auto set = llvm::dyn_cast<pd::SetOp>(parameter.last);
    mlir::Value now =
        set ? set.getValue()
            : pd::GetOp::create(builder, loc, parameter.var.getType(), symbolNamed(parameter.var));
    mlir::Value delta = elementwise(builder, loc, "elementwise_sub", parameter.copy, now,
                                    parameter.deltaName(), pd::kOptimize, declarations);
    parameter.delta = sumOver(builder, loc, delta, comm);
  }

  // snapshot − mean of the deltas: the mean of the replicas' parameters, since all have the same
  // snapshot. As the framework's LocalSGD transpiler computes it.
  static void average(mlir::OpBuilder& builder, Parameter& parameter, double factor,
                      pd::Declarations& declarations) {
    mlir::Location loc = parameter.last->getLoc();
    mlir::Value mean = scale(builder, loc, parameter.delta, factor, parameter.deltaName(),
                             pd::kOptimize, declarations);
    mlir::Value value = elementwise(builder, loc, "elementwise_sub", parameter.copy, mean,
                                    parameter.var.getSymName(), pd::kOptimize, declarations);
    for (pd::VarOp var : {parameter.var, parameter.snapshot})
      pd::SetOp::create(builder, loc, mlir::FlatSymbolRefAttr::get(var.getSymNameAttr()), value);
  }
};

}  // namespace
}  // namespace dtranspile::passes
