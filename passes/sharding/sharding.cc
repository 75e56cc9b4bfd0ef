// Gradients, updates and state cut over an axis. After bucket; what is cut, plan.h decides, and
// rewrite.h rewrites.
#include "passes/sharding/pass.h"
#include "passes/sharding/rewrite.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_SHARDING
#include "passes/sharding/pass.h.inc"

namespace {

constexpr size_t kListed = 4;  // names in a remark

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
        *job, plan, makeComms(*job, std::move(*all)),
        {axis().str(), static_cast<int64_t>(segment_broadcast_MB * (1 << 20)), sharding_stage >= 2})
        .run();
  }

 private:
  llvm::StringRef axis() const { return over.getValue(); }

  static bool isAmong(const JobOnAxes& job, llvm::StringRef name) {
    return llvm::is_contained(mlir::ArrayAttr(job.axes).getAsValueRange<mlir::StringAttr>(), name);
  }

  mlir::LogicalResult checkOptions(JobOnAxes& job) {
    if (!isAmong(job, axis()))
      return job.role.emitError("sharding: over is '")
             << over.getValue() << "', which is none of the axes " << listOf(job.axes);
    if (sharding_stage < 1 || sharding_stage > 3)
      return job.role.emitError("sharding: sharding_stage is ")
             << sharding_stage.getValue() << "; 1, 2 and 3 are known";
    if (!micro.empty() && (micro.getValue() == axis() || !isAmong(job, micro.getValue())))
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
    for (const auto& [why, names] : plan.kept()) {
      std::string list;
      for (size_t i = 0; i < names.size() && i < kListed; ++i) list += (i ? ", " : "") + names[i];
      if (names.size() > kListed)
        list += " and " + std::to_string(names.size() - kListed) + " more";
      pd::ProgramOp(job.main).emitRemark("sharding: stays whole on every rank: ")
          << list << " (" << why << ")";
    }
    if (plan.sums().empty())
      pd::ProgramOp(job.main).emitWarning(
          "sharding: there is nothing to cut: every rank keeps and updates all parameters");
  }

  // Along the axis, and along the others, as many as carry gradients over all of them.
  ShardComms makeComms(const JobOnAxes& job, std::vector<dist::CommOp> all) {
    ShardComms comms;
    comms.all = std::move(all);
    if (job.axes.size() == 1) {
      comms.within = comms.all;
      return comms;
    }
    llvm::SmallVector<llvm::StringRef> others;
    int64_t replicas = 1;  // along these
    for (auto one : mlir::ArrayAttr(job.axes).getAsValueRange<mlir::StringAttr>()) {
      if (one == axis() || one == micro.getValue()) continue;
      others.push_back(one);
      replicas *= dist::MeshOp(job.mesh).sizeOf(one).value_or(1);
    }
    dist::CommOp last;
    for (auto comm : getOperation().getOps<dist::CommOp>()) last = comm;
    mlir::OpBuilder builder(&getContext());
    builder.setInsertionPointAfter(last);
    const auto make = [&](const llvm::Twine& name, llvm::ArrayRef<llvm::StringRef> among,
                          llvm::StringRef carries) {
      return dist::CommOp::create(builder, last.getLoc(), builder.getStringAttr(name),
                                  last.getMeshAttr(), builder.getStrArrayAttr(among),
                                  dist::SelAttr(),
                                  dist::CommKindAttr::get(&getContext(), dist::CommKind::Group),
                                  mlir::FlatSymbolRefAttr(), builder.getStringAttr(carries));
    };
    for (size_t i = 0; i < comms.all.size(); ++i) {
      comms.within.push_back(make("shards" + llvm::Twine(i), {axis()}, kShards));
      if (replicas > 1 || (micro.empty() && !others.empty()))
        comms.between.push_back(make("replicas" + llvm::Twine(i), others, kBetween));
    }
    if (!micro.empty()) comms.micro = make("micro", {micro.getValue()}, kGradients);
    return comms;
  }
};

}  // namespace
}  // namespace dtranspile::passes
