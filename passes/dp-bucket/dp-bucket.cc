// Joins sums over the replicas into buckets that overlap with what follows. Behind
// dp-reduce-gradients or local-sgd.
#include "passes/dp-bucket/pass.h"
#include "passes/support/job.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_DPBUCKET
#include "passes/dp-bucket/pass.h.inc"

namespace {

struct Bucket {
  std::vector<dist::AllReduceOp> members;  // in program order
  mlir::Operation* firstUse = nullptr;     // of any result, in the members' block; null: no use
  int64_t bytes = 0;
};

mlir::Operation* earlier(mlir::Operation* a, mlir::Operation* b) {
  if (!a || !b) return a ? a : b;
  return a->isBeforeInBlock(b) ? a : b;
}

mlir::Operation* firstUseOf(dist::AllReduceOp op) {
  mlir::Operation* first = nullptr;
  for (mlir::Operation* user : op->getUsers())
    first = earlier(first, inBlock(op->getBlock(), user));
  return first;
}

class DpBucket : public impl::DpBucketBase<DpBucket> {
 public:
  using DpBucketBase::DpBucketBase;

  void runOnOperation() override {
    mlir::FailureOr<DataParallelJob> job = dataParallelJob(getOperation());
    if (mlir::failed(job)) return signalPassFailure();
    if (megabytes < 0 || megabytes > (int64_t{1} << 20)) {
      getOperation().emitError("dp-bucket: megabytes is ")
          << megabytes.getValue() << "; it lies between 0 and 1048576";
      return signalPassFailure();
    }
    std::vector<dist::CommOp> comms = commsCarrying(getOperation(), kGradients);
    size_t next = 0;
    for (Bucket& bucket : fill(*job->main.getBodyBlock(), comms))
      start(bucket, symbolOf(comms[next++ % comms.size()]));
  }

 private:
  // Buckets in the order of their last members, which is the order in which they start.
  std::vector<Bucket> fill(mlir::Block& block, llvm::ArrayRef<dist::CommOp> comms) {
    std::vector<Bucket> closed;
    llvm::MapVector<mlir::Type, Bucket> open;  // by element type
    auto close = [&](Bucket& bucket) {
      if (!bucket.members.empty()) closed.push_back(std::move(bucket));
      bucket = Bucket();
    };
    for (auto op : block.getOps<dist::AllReduceOp>()) {
      if (!isCandidate(op, comms)) continue;
      int64_t bytes = op->getNumOperands() == 1 ? bytesOf(op->getOperand(0).getType()) : -1;
      Bucket alone{{op}, firstUseOf(op), bytes};
      if (bytes < 0) {
        closed.push_back(alone);
        continue;
      }
      Bucket& bucket =
          open[llvm::cast<mlir::RankedTensorType>(op->getOperand(0).getType()).getElementType()];
      bool full = megabytes == 0 || bucket.bytes + bytes > megabytes << 20;
      bool used = bucket.firstUse && !op->isBeforeInBlock(bucket.firstUse);
      if (full || used) close(bucket);
      bucket.members.push_back(op);
      bucket.firstUse = earlier(bucket.firstUse, alone.firstUse);
      bucket.bytes += bytes;
    }
    for (auto& entry : open) close(entry.second);
    llvm::sort(closed, [](const Bucket& a, const Bucket& b) {
      return dist::AllReduceOp(a.members.back())
          ->isBeforeInBlock(dist::AllReduceOp(b.members.back()));
    });
    return closed;
  }

  static bool isCandidate(dist::AllReduceOp op, llvm::ArrayRef<dist::CommOp> comms) {
    if (op.getReduce() != dist::Reduce::Sum ||
        llvm::isa<dist::PendingType>(op->getResult(0).getType()))
      return false;
    return llvm::any_of(comms,
                        [&](dist::CommOp comm) { return op.getCommAttr() == symbolOf(comm); });
  }

  static void start(Bucket& bucket, mlir::FlatSymbolRefAttr comm) {
    dist::AllReduceOp last = bucket.members.back();
    llvm::SmallVector<mlir::Value> values;
    llvm::SmallVector<mlir::Type> types;
    llvm::SmallVector<mlir::Location> locations;
    for (dist::AllReduceOp member : bucket.members) {
      llvm::append_range(values, member.getInputs());
      llvm::append_range(types, member.getInputs().getTypes());
      locations.push_back(member.getLoc());
    }
    mlir::OpBuilder builder(last);
    mlir::Location loc = builder.getFusedLoc(locations);
    auto pending = dist::PendingType::get(builder.getContext(), types);
    auto op = dist::AllReduceOp::create(builder, loc, mlir::TypeRange(pending),
                                        last.getReduceAttr(), values, comm);
    if (bucket.firstUse) builder.setInsertionPoint(bucket.firstUse);
    else builder.setInsertionPointToEnd(last->getBlock());
    auto wait = dist::WaitOp::create(builder, loc, types, op.getResult(0));
    size_t at = 0;
    for (dist::AllReduceOp member : bucket.members) {
      for (mlir::Value result : member->getResults())
        result.replaceAllUsesWith(wait.getResult(at++));
      member.erase();
    }
  }
};

}  // namespace
}  // namespace dtranspile::passes
