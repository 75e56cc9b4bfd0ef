// Initial values of rank 0 for all. Runs over the start-up program of a job.
#include "dialects/pd/declarations.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/MapVector.h"
#include "passes/broadcast-startup/pass.h"
#include "passes/support/job.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_BROADCASTSTARTUP
#include "passes/broadcast-startup/pass.h.inc"

namespace {

// Does a value follow from constants alone? Memoised over the program.
class Constants {
 public:
  bool contains(mlir::Value value) {
    auto [entry, fresh] =
        known_.try_emplace(value, false);  // a cycle through a block argument is no constant
    if (!fresh) return entry->second;
    mlir::Operation* op = value.getDefiningOp();
    const pd::OpSpec* spec = op && op->getNumRegions() == 0 && pd::OpView::isFrameworkOp(op)
                                 ? pd::OpView(op).spec()
                                 : nullptr;
    bool constant =
        spec && spec->effects == pd::kPure &&
        llvm::all_of(op->getOperands(), [&](mlir::Value operand) { return contains(operand); });
    return known_[value] = constant;
  }

 private:
  llvm::DenseMap<mlir::Value, bool> known_;
};

class BroadcastStartup : public impl::BroadcastStartupBase<BroadcastStartup> {
 public:
  using BroadcastStartupBase::BroadcastStartupBase;

  void runOnOperation() override {
    mlir::FailureOr<JobOnAxes> job = jobOnAxes(getOperation(), axes);
    if (mlir::failed(job)) return signalPassFailure();
    if (!job->startup) return;
    auto comms = commsCarrying(getOperation(), kGradients, job->axes);
    if (mlir::failed(comms)) return signalPassFailure();
    llvm::MapVector<mlir::Type, std::vector<pd::VarOp>> byElement;
    for (pd::VarOp var : variables(*job))
      byElement[pd::tensorOf(var.getType()).getElementType()].push_back(var);
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(job->startup.getBodyBlock());
    size_t next = 0;
    for (auto& [element, vars] : byElement)
      for (llvm::ArrayRef<pd::VarOp> rest = vars; !rest.empty();) {
        size_t count = bucketSize(rest);
        broadcast(builder, *job, rest.take_front(count),
                  symbolOf((*comms)[next++ % comms->size()]));
        rest = rest.drop_front(count);
      }
  }

 private:
  // Dense variables whose last value in start-up is no constant, in the order of the role. A flat
  // variable is held by its parts, which are among them.
  static std::vector<pd::VarOp> variables(JobOnAxes& job) {
    llvm::DenseMap<mlir::StringAttr, bool> constant;
    Constants constants;
    job.startup.walk([&](pd::SetOp set) {
      bool top = set->getBlock() == job.startup.getBodyBlock();
      constant[set.getVarAttr().getAttr()] = top && constants.contains(set.getValue());
    });
    std::vector<pd::VarOp> vars;
    for (auto var : job.role.getBody().front().getOps<pd::VarOp>()) {
      auto found = constant.find(var.getSymNameAttr());
      if (found != constant.end() && !found->second && !var->hasAttr(pd::kPartsAttr) &&
          llvm::isa<mlir::RankedTensorType>(var.getType()))
        vars.push_back(var);
    }
    return vars;
  }

  size_t bucketSize(llvm::ArrayRef<pd::VarOp> vars) {
    int64_t bytes = 0;
    size_t count = 0;
    for (; count < vars.size(); ++count) {
      int64_t more = std::max<int64_t>(bytesOf(pd::VarOp(vars[count]).getType()), 0);
      if (count > 0 && bytes + more > megabytes << 20) break;
      bytes += more;
    }
    return count;
  }

  static void broadcast(mlir::OpBuilder& builder, JobOnAxes& job, llvm::ArrayRef<pd::VarOp> vars,
                        mlir::FlatSymbolRefAttr comm) {
    mlir::Location loc = job.startup.getLoc();
    llvm::SmallVector<mlir::Value> values;
    llvm::SmallVector<mlir::Type> types;
    for (pd::VarOp var : vars) {
      types.push_back(var.getType());
      values.push_back(pd::GetOp::create(builder, loc, var.getType(),
                                         mlir::FlatSymbolRefAttr::get(var.getSymNameAttr())));
    }
    llvm::SmallVector<dist::AxisSetAttr> root;
    for (mlir::StringAttr axis : job.axes.getAsRange<mlir::StringAttr>())
      root.push_back(dist::AxisSetAttr::of(axis, {{0, 1}}));
    auto op = dist::BroadcastOp::create(builder, loc, types, values, comm,
                                        dist::SelAttr::of(builder.getContext(), root));
    for (auto [var, value] : llvm::zip(vars, op.getResults()))
      pd::SetOp::create(builder, loc, mlir::FlatSymbolRefAttr::get(pd::VarOp(var).getSymNameAttr()),
                        value);
  }
};

}  // namespace
}  // namespace dtranspile::passes
