// Gradients, updates and state cut over an axis. After bucket; what is cut, plan.h decides, and
// rewrite.h rewrites.
#include "passes/sharding/pass.h"
#include "passes/sharding/rewrite.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_SHARDING
#include "passes/sharding/pass.h.inc"

namespace {

struct Sharding : impl::ShardingBase<Sharding> {
  using ShardingBase::ShardingBase;

  void runOnOperation() override {
    mlir::FailureOr<JobOnAxes> job = jobOnAxes(getOperation(), axes);
    if (mlir::failed(job) || mlir::failed(checkOptions(*job))) return signalPassFailure();
    const int64_t size = job->mesh.sizeOf(axis()).value_or(1);
    if (size == 1) return;  // a part is the whole
    auto all = commsCarrying(getOperation(), kGradients, job->axes);
    if (mlir::failed(all)) return signalPassFailure();
    const ShardPlan plan(*job,
                         {over.getValue(), size, min_shard, sharding_stage == 3, micro.empty()});
    report(*job, plan);
    if (plan.sums().empty()) return;
    ShardRewriter(
        *job, plan, makeShardComms(*job, axis(), micro.getValue(), std::move(*all)),
        {axis().str(), static_cast<int64_t>(segment_broadcast_MB * (1 << 20)), sharding_stage >= 2})
        .run();
  }

 private:
  llvm::StringRef axis() const { return over.getValue(); }

  mlir::LogicalResult checkOptions(JobOnAxes& job) {
    if (!hasAxis(job, axis()))
      return job.role.emitError("sharding: over is '")
             << over.getValue() << "', which is none of the axes " << listOf(job.axes);
    if (sharding_stage < 1 || sharding_stage > 3)
      return job.role.emitError("sharding: sharding_stage is ")
             << sharding_stage.getValue() << "; 1, 2 and 3 are known";
    if (!micro.empty() && (micro.getValue() == axis() || !hasAxis(job, micro.getValue())))
      return job.role.emitError("sharding: micro is '")
             << micro.getValue() << "', which is none of the other axes of " << listOf(job.axes);
    if (!micro.empty() && sharding_stage == 3)
      return job.role.emitError(
          "sharding: sharding_stage 3 and micro-batches: parameters would be put together for "
          "every "
          "micro-batch on every stage; choose stage 1 or 2");
    if (min_shard < 0 || segment_broadcast_MB < 0)
      return job.role.emitError("sharding: min_shard and segment_broadcast_MB are at least 0");
    return mlir::success();
  }

  // What stays whole is said, with the reason.
  static void report(const JobOnAxes& job, const ShardPlan& plan) {
    reportKept(job.main, "sharding", plan.kept());
    if (plan.sums().empty())
      pd::ProgramOp(job.main).emitWarning(
          "sharding: there is nothing to cut: every rank keeps and updates all parameters");
  }
};

}  // namespace
}  // namespace dtranspile::passes
