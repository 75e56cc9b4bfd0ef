// Cuts the feeds over axes of the mesh. After form-job.
#include "dialects/pd/types.h"
#include "llvm/ADT/StringSet.h"
#include "passes/cut-batch/pass.h"
#include "passes/support/job.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_CUTBATCH
#include "passes/cut-batch/pass.h.inc"

namespace {

class CutBatch : public impl::CutBatchBase<CutBatch> {
 public:
  using CutBatchBase::CutBatchBase;

  void runOnOperation() override {
    mlir::FailureOr<JobOnAxes> job = jobOnAxes(getOperation(), axes);
    if (mlir::failed(job) || mlir::failed(readBatchDims()) || mlir::failed(markFeeds(*job)) ||
        (job->ranks > 1 && mlir::failed(checkLiterals(job->main))))
      signalPassFailure();
  }

 private:
  // NAME=d, NAME=none
  mlir::LogicalResult readBatchDims() {
    for (const std::string& entry : batch_dims) {
      auto [name, text] = llvm::StringRef(entry).rsplit('=');
      int64_t dim = -1;
      if (name.empty() || (text != "none" && (text.getAsInteger(10, dim) || dim < 0)))
        return getOperation().emitError("cut-batch: batch_dims: '")
               << entry << "' is neither NAME=dim nor NAME=none";
      overrides_[name] = dim;
    }
    return mlir::success();
  }

  // A feed is cut along its first dim where that is dynamic, which is how programs declare the
  // batch, or along the dim that batch_dims names. A feed without either is whole on every rank.
  mlir::LogicalResult markFeeds(const JobOnAxes& job) {
    pd::ProgramOp main = job.main;
    bool any = false;
    for (mlir::Operation& op : *main.getBodyBlock()) {
      bool isFeed = llvm::isa<pd::InputOp>(op) ||
                    (pd::OpView::isFrameworkOp(&op) && pd::OpView(&op).type() == "feed");
      if (!isFeed || op.getNumResults() != 1) continue;
      mlir::RankedTensorType type = pd::tensorOf(op.getResult(0).getType());
      if (!type) continue;
      llvm::StringRef name = pd::nameOf(op.getResult(0));
      int64_t dim = type.getRank() > 0 && type.isDynamicDim(0) ? 0 : -1;
      if (auto given = overrides_.find(name); given != overrides_.end()) {
        dim = given->second;
        used_.insert(name);
        if (dim >= type.getRank())
          return op.emitError("cut-batch: batch_dims: '")
                 << name << "' has " << type.getRank() << " dims, no dim " << dim;
      }
      if (dim < 0) continue;
      any = true;
      op.setAttr(dist::kBatchAttr,
                 dist::BatchAttr::get(op.getContext(), dim,
                                      llvm::to_vector(job.axes.getAsRange<mlir::StringAttr>())));
    }
    if (!any && job.ranks > 1)
      main.emitWarning(
          "no feed has a batch dim: every rank computes the same; name one with batch_dims "
          "(--batch-dim NAME=dim) if a dim of fixed extent is the batch");
    for (auto& entry : overrides_)
      if (!used_.contains(entry.getKey()))
        return main.emitError("cut-batch: batch_dims names '")
               << entry.getKey() << "', which is no feed of the program";
    return mlir::success();
  }

  // A reshape of a value of unknown extent to known ones has the size of the batch written into it,
  // and a rank holds a part of the batch.
  static mlir::LogicalResult checkLiterals(pd::ProgramOp main) {
    mlir::WalkResult result = main.walk([](mlir::Operation* op) {
      if (!pd::OpView::isFrameworkOp(op)) return mlir::WalkResult::advance();
      pd::OpView view(op);
      mlir::Value x = view.input("X"), out = view.output("Out");
      if ((view.type() != "reshape" && view.type() != "reshape2") || !x || !out)
        return mlir::WalkResult::advance();
      mlir::RankedTensorType from = pd::tensorOf(x.getType()), to = pd::tensorOf(out.getType());
      if (!from || !to || from.hasStaticShape() || !to.hasStaticShape())
        return mlir::WalkResult::advance();
      op->emitError("its shape fixes the extent of the batch: ")
          << from << " becomes " << to
          << "; a rank holds a part of the batch, so save the program with -1 in "
          << "this shape";
      return mlir::WalkResult::interrupt();
    });
    return mlir::failure(result.wasInterrupted());
  }

  llvm::StringMap<int64_t> overrides_;  // -1: none
  llvm::StringSet<> used_;
};

}  // namespace
}  // namespace dtranspile::passes
