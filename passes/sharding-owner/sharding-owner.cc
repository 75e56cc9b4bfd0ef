// Every parameter on the rank that owns it. After bucket; who owns what, plan.h says, and rewrite.h
// rewrites.
#include "passes/sharding-owner/pass.h"
#include "passes/sharding-owner/rewrite.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_SHARDINGOWNER
#include "passes/sharding-owner/pass.h.inc"

namespace {

struct ShardingOwner : impl::ShardingOwnerBase<ShardingOwner> {
  using ShardingOwnerBase::ShardingOwnerBase;

  void runOnOperation() override {
    mlir::FailureOr<JobOnAxes> job = jobOnAxes(getOperation(), axes);
    if (mlir::failed(job) || mlir::failed(checkOptions(*job))) return signalPassFailure();
    const int64_t size = job->mesh.sizeOf(over.getValue()).value_or(1);
    if (size == 1) return;  // one rank owns everything
    auto all = commsCarrying(getOperation(), kGradients, job->axes);
    if (mlir::failed(all)) return signalPassFailure();
    const OwnerPlan plan(*job, size, min_shard);
    report(*job, plan, size);
    if (plan.sums().empty()) return;
    OwnerRewriter(*job, plan, makeShardComms(*job, over.getValue(), "", std::move(*all)),
                  {over.getValue(), static_cast<int64_t>(segment_broadcast_MB * (1 << 20)),
                   sharding_stage == 3})
        .run();
  }

 private:
  mlir::LogicalResult checkOptions(JobOnAxes& job) {
    if (!hasAxis(job, over.getValue()))
      return job.role.emitError("sharding-owner: over is '")
             << over.getValue() << "', which is none of the axes " << listOf(job.axes);
    if (sharding_stage < 1 || sharding_stage > 3)
      return job.role.emitError("sharding-owner: sharding_stage is ")
             << sharding_stage.getValue() << "; 1, 2 and 3 are known";
    if (min_shard < 0 || segment_broadcast_MB < 0)
      return job.role.emitError(
          "sharding-owner: min_shard and segment_broadcast_MB are at least 0");
    return mlir::success();
  }

  // What stays whole is said, with the reason; and how evenly the rest is shared out.
  static void report(const JobOnAxes& job, const OwnerPlan& plan, int64_t ranks) {
    pd::ProgramOp main = job.main;
    reportKept(main, "sharding-owner", plan.kept());
    if (plan.sums().empty()) {
      main.emitWarning(
          "sharding-owner: there is nothing to share out: every rank keeps and updates all "
          "parameters");
      return;
    }
    llvm::MapVector<int64_t, int64_t> bytes;
    int64_t total = 0;
    for (const auto& [var, owner] : plan.stored()) {
      const int64_t own = bytesOf(pd::VarOp(var).getType());
      bytes[owner] += own;
      total += own;
    }
    int64_t most = 0;
    for (const auto& [owner, own] : bytes) most = std::max(most, own);
    main.emitRemark("sharding-owner: ")
        << bytes.size() << " of " << ranks << " ranks own " << total
        << " bytes of parameters and state, the largest of them " << most;
  }
};

}  // namespace
}  // namespace dtranspile::passes
