// Layers split over an axis of ranks. After cut-batch, before gradients are reduced over replicas;
// what lies where, plan.h decides, and rewrite.h rewrites.
#include "passes/tensor-parallel/pass.h"
#include "passes/tensor-parallel/rewrite.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_TENSORPARALLEL
#include "passes/tensor-parallel/pass.h.inc"

namespace {

constexpr size_t kListed = 4;  // names in a remark

struct TensorParallel : impl::TensorParallelBase<TensorParallel> {
  using TensorParallelBase::TensorParallelBase;

  // Plans without changing anything, reports what was split and what was not and why, and rewrites.
  void runOnOperation() override {
    mlir::FailureOr<JobOnAxes> job = jobOnAxes(getOperation(), axes);
    if (mlir::failed(job)) return signalPassFailure();
    if (job->axes.size() != 1) {
      job->role.emitError("tensor-parallel: layers are split over one axis, and axes names ")
          << listOf(job->axes);
      return signalPassFailure();
    }
    if (job->ranks == 1) return;  // a part is the whole
    auto comms = commsCarrying(getOperation(), kLayers, job->axes);
    if (mlir::failed(comms)) return signalPassFailure();
    // Of what is split already nothing is too small.
    const bool declared = llvm::any_of(job->role.getBody().front().getOps<pd::VarOp>(),
                                       [](pd::VarOp var) { return var->hasAttr(kHeldInParts); });
    TensorPlan plan(*job, llvm::cast<mlir::StringAttr>(job->axes[0]).getValue().str(),
                    declared ? 1 : tensor_parallel_min_vocabulary.getValue(), sequence_parallel);
    if (mlir::failed(plan.run())) return signalPassFailure();
    report(*job, plan);
    TensorRewriter(*job, plan, comms->front()).run();
    getOperation().walk([](pd::VarOp var) { var->removeAttr(kHeldInParts); });
  }

 private:
  // What stays whole is said, with the reason.
  static void report(const JobOnAxes& job, const TensorPlan& plan) {
    remark(job, plan.kept(), "stays whole on every rank");
    remark(job, plan.summedWhole(), "is summed whole, and not in parts of a sequence");
    remark(job, plan.updatedWhole(), "is put together for its update, which every rank computes");
    if (plan.stored().empty())
      pd::ProgramOp(job.main).emitWarning(
          "tensor-parallel: there is nothing to split: every rank computes all layers");
  }

  static void remark(const JobOnAxes& job, const TensorPlan::Kept& kept, llvm::StringRef what) {
    for (const auto& [why, names] : kept) {
      std::string list;
      for (size_t i = 0; i < names.size() && i < kListed; ++i) list += (i ? ", " : "") + names[i];
      if (names.size() > kListed)
        list += " and " + std::to_string(names.size() - kListed) + " more";
      pd::ProgramOp(job.main).emitRemark("tensor-parallel: ")
          << what << ": " << list << " (" << why << ")";
    }
  }
};

}  // namespace
}  // namespace dtranspile::passes
