// Averages parameters at the end of every step (the framework's collective mode local_sgd). In
// place of scale-loss and reduce-gradients; bucket then joins the reductions.
#include "llvm/ADT/MapVector.h"
#include "passes/local-sgd/pass.h"
#include "passes/support/job.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_LOCALSGD
#include "passes/local-sgd/pass.h.inc"

namespace {

// A parameter with the op that sets it last, its copy, and, once started, the summed delta.
struct Parameter {
  pd::VarOp var, snapshot;
  pd::SetOp lastSet;
  mlir::Value copy, delta;

  std::string deltaName() { return (var.getSymName() + "@DELTA").str(); }
};

class LocalSgd : public impl::LocalSgdBase<LocalSgd> {
 public:
  using LocalSgdBase::LocalSgdBase;

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
  // Parameters that the program sets at its top level, in order of their last set.
  static mlir::FailureOr<std::vector<Parameter>> collect(JobOnAxes& job) {
    llvm::MapVector<mlir::StringAttr, pd::SetOp> last;
    mlir::LogicalResult nested = mlir::success();
    forEachUpdate(job.main, [&](pd::OpView update, llvm::StringRef name) {
      if (update.operation()->getBlock() == job.main.getBodyBlock())
        last[mlir::StringAttr::get(update.operation()->getContext(), name)] = {};
      else
        nested = update.operation()->emitError("local_sgd: parameter '")
                 << name << "' is updated inside a sub-block; not supported";
    });
    if (mlir::failed(nested)) return mlir::failure();
    for (auto set : job.main.getBodyBlock()->getOps<pd::SetOp>())
      if (auto found = last.find(set.getVarAttr().getAttr()); found != last.end())
        found->second = set;
    std::vector<Parameter> parameters;
    for (auto& [name, set] : last) {
      auto var =
          llvm::dyn_cast_or_null<pd::VarOp>(mlir::SymbolTable::lookupSymbolIn(job.role, name));
      if (var && set) parameters.push_back({var, {}, set, {}, {}});
    }
    return parameters;
  }

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

  static void startDelta(Parameter& parameter, mlir::FlatSymbolRefAttr comm,
                         pd::Declarations& declarations) {
    mlir::OpBuilder builder(parameter.var.getContext());
    builder.setInsertionPointAfter(parameter.lastSet);
    mlir::Location loc = parameter.lastSet.getLoc();
    parameter.copy =
        pd::GetOp::create(builder, loc, parameter.var.getType(),
                          mlir::FlatSymbolRefAttr::get(parameter.snapshot.getSymNameAttr()));
    mlir::Value delta =
        elementwise(builder, loc, "elementwise_sub", parameter.copy, parameter.lastSet.getValue(),
                    parameter.deltaName(), pd::kOptimize, declarations);
    parameter.delta = sumOver(builder, loc, delta, comm);
  }

  static void average(mlir::OpBuilder& builder, Parameter& parameter, double factor,
                      pd::Declarations& declarations) {
    mlir::Location loc = parameter.lastSet.getLoc();
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
