// Initial values of rank 0 for all. Runs over the start-up program of a job.
#include "dialects/pd/declarations.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/MapVector.h"
#include "passes/broadcast-startup/pass.h"
#include "passes/support/relations.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_BROADCASTSTARTUP
#include "passes/broadcast-startup/pass.h.inc"

namespace {

class BroadcastStartup : public impl::BroadcastStartupBase<BroadcastStartup> {
 public:
  using BroadcastStartupBase::BroadcastStartupBase;

  // Variables are grouped by the axes along which they are equal, by the ranks that have them and
  // by element type, and each group is cut into buckets: one broadcast moves many small variables.
  // Communicators are taken in turn.
  void runOnOperation() override {
    mlir::FailureOr<JobOnAxes> job = jobOnAxes(getOperation(), axes);
    if (mlir::failed(job)) return signalPassFailure();
    if (!job->startup) return;
    // One replica of a pipeline.
    if (job->ranks == 1 && job->mesh.ranks() > 1) return;
    if (mlir::failed(commsCarrying(getOperation(), carries, job->axes))) return signalPassFailure();
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockEnd(job->startup.getBodyBlock());
    for (const auto& [key, byElement] : variables(*job)) {
      const auto& [along, where] = key;
      auto comms = commsCarrying(getOperation(), carries, along);
      if (mlir::failed(comms)) return signalPassFailure();
      size_t next = 0;
      for (const auto& [element, vars] : byElement)
        for (llvm::ArrayRef<pd::VarOp> rest = vars; !rest.empty();) {
          size_t count = bucketSize(rest);
          broadcast(builder, *job, rest.take_front(count), along, where,
                    symbolOf((*comms)[next++ % comms->size()]));
          rest = rest.drop_front(count);
        }
    }
  }

 private:
  using ByElement = llvm::MapVector<mlir::Type, std::vector<pd::VarOp>>;
  using Key = std::pair<mlir::ArrayAttr, dist::SelAttr>;

  // Dense variables that differ when start-up is over, by the axes along which they do and the
  // ranks that have them, in the order of the role. A flat variable is held by its parts, which are
  // among them.
  static llvm::MapVector<Key, ByElement> variables(JobOnAxes& job) {
    const verify::Differences differences = verify::Differences::ofStartup(job.role, job.startup);
    const verify::AxisSet own = axesOf(job, differences.axes());
    llvm::DenseMap<mlir::StringAttr, mlir::ArrayAttr> along;
    for (const verify::Differences::Ending& ending : differences.endings())
      if (const verify::AxisSet set =
              axesToUse(verify::AxisSet(own) &= ending.along, own, differences.axes());
          set.any())
        along[pd::SetOp(ending.set).getVarAttr().getAttr()] =
            namesOf(set, differences.axes(), job.role.getContext());
    llvm::MapVector<Key, ByElement> groups;
    for (auto var : job.role.getBody().front().getOps<pd::VarOp>()) {
      auto found = along.find(var.getSymNameAttr());
      if (found != along.end() && !var->hasAttr(pd::kPartsAttr) &&
          llvm::isa<mlir::RankedTensorType>(var.getType()))
        groups[{found->second, var->getAttrOfType<dist::SelAttr>(dist::kAtAttr)}]
              [pd::tensorOf(var.getType()).getElementType()]
                  .push_back(var);
    }
    return groups;
  }

  // The number of leading variables that fit into one bucket. A single variable larger than the
  // bucket makes one of its own; an unknown size counts as nothing.
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

  // The root is the rank of coordinate 0 along each of the axes. Variables that some ranks alone
  // have are broadcast under a guard.
  static void broadcast(mlir::OpBuilder builder, JobOnAxes& job, llvm::ArrayRef<pd::VarOp> vars,
                        mlir::ArrayAttr along, dist::SelAttr where, mlir::FlatSymbolRefAttr comm) {
    mlir::Location loc = job.startup.getLoc();
    if (where) {
      auto on = dist::OnOp::create(builder, loc, mlir::TypeRange(), where, mlir::ValueRange(),
                                   dist::TaskAttr(), mlir::IntegerAttr());
      builder.setInsertionPointToStart(&on.getBody().emplaceBlock());
      dist::YieldOp::create(builder, loc, mlir::ValueRange());
      builder.setInsertionPointToStart(&on.getBody().front());
    }
    llvm::SmallVector<mlir::Value> values;
    llvm::SmallVector<mlir::Type> types;
    for (pd::VarOp var : vars) {
      types.push_back(var.getType());
      values.push_back(pd::GetOp::create(builder, loc, var.getType(),
                                         mlir::FlatSymbolRefAttr::get(var.getSymNameAttr())));
    }
    llvm::SmallVector<dist::AxisSetAttr> root;
    for (auto axis : along.getAsRange<mlir::StringAttr>())
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
