// Joins sums over the replicas into buckets that overlap with what follows. After
// reduce-gradients or local-sgd.
#include "passes/bucket/pass.h"
#include "passes/support/job.h"

namespace dtranspile::passes {
#define GEN_PASS_DEF_BUCKET
#include "passes/bucket/pass.h.inc"

namespace {

// Sums that become one bucket.
struct Group {
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

class Bucket : public impl::BucketBase<Bucket> {
 public:
  using BucketBase::BucketBase;

  // Groups are filled block by block in program order, so that the gradients that are complete
  // first (those of the last layers) travel while the backward part goes on.
  void runOnOperation() override {
    mlir::FailureOr<JobOnAxes> job = jobOnAxes(getOperation(), axes);
    if (mlir::failed(job)) return signalPassFailure();
    if (fuse_grad_size_in_MB < 0 || fuse_grad_size_in_MB > (int64_t{1} << 20)) {
      getOperation().emitError("bucket: fuse_grad_size_in_MB is ")
          << fuse_grad_size_in_MB.getValue() << "; it lies between 0 and 1048576";
      return signalPassFailure();
    }
    auto comms = commsCarrying(getOperation(), kGradients, job->axes);
    if (mlir::failed(comms)) return signalPassFailure();
    size_t next = 0;
    // Blocks of their own have buckets of their own: what runs in a branch is not joined with what
    // runs in every step.
    llvm::SmallVector<mlir::Block*> blocks = {job->main.getBodyBlock()};
    job->main.walk([&](dist::AllReduceOp op) {
      if (!llvm::is_contained(blocks, op->getBlock())) blocks.push_back(op->getBlock());
    });
    for (mlir::Block* block : blocks)
      for (Group& group : fill(*block, *comms))
        start(group, symbolOf((*comms)[next++ % comms->size()]));
  }

 private:
  // Groups in the order of their last members, which is the order in which they start.
  std::vector<Group> fill(mlir::Block& block, llvm::ArrayRef<dist::CommOp> comms) {
    std::vector<Group> closed;
    llvm::MapVector<mlir::Type, Group> open;  // by element type
    auto close = [&](Group& group) {
      if (!group.members.empty()) closed.push_back(std::move(group));
      group = Group();
    };
    for (auto op : block.getOps<dist::AllReduceOp>()) {
      if (!isCandidate(op, comms)) continue;
      int64_t bytes = op->getNumOperands() == 1 ? bytesOf(op->getOperand(0).getType()) : -1;
      Group alone{{op}, firstUseOf(op), bytes};
      if (bytes < 0) {
        closed.push_back(alone);
        continue;
      }
      Group& group =
          open[llvm::cast<mlir::RankedTensorType>(op->getOperand(0).getType()).getElementType()];
      bool full = fuse_grad_size_in_MB == 0 || group.bytes + bytes > fuse_grad_size_in_MB << 20;
      bool used = group.firstUse && !op->isBeforeInBlock(group.firstUse);
      if (full || used) close(group);
      group.members.push_back(op);
      group.firstUse = earlier(group.firstUse, alone.firstUse);
      group.bytes += bytes;
    }
    for (auto& entry : open) close(entry.second);
    llvm::sort(closed, [](const Group& a, const Group& b) {
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

  // One started sum of all members where the last of them stood, and its wait in front of the first
  // op that reads a result: what stands between overlaps with the communication.
  static void start(Group& group, mlir::FlatSymbolRefAttr comm) {
    dist::AllReduceOp last = group.members.back();
    llvm::SmallVector<mlir::Value> values;
    llvm::SmallVector<mlir::Type> types;
    llvm::SmallVector<mlir::Location> locations;
    for (dist::AllReduceOp member : group.members) {
      llvm::append_range(values, member.getInputs());
      llvm::append_range(types, member.getInputs().getTypes());
      locations.push_back(member.getLoc());
    }
    mlir::OpBuilder builder(last);
    mlir::Location loc = builder.getFusedLoc(locations);
    auto pending = dist::PendingType::get(builder.getContext(), types);
    auto op = dist::AllReduceOp::create(builder, loc, mlir::TypeRange(pending),
                                        last.getReduceAttr(), values, comm);
    if (group.firstUse) builder.setInsertionPoint(group.firstUse);
    else builder.setInsertionPointToEnd(last->getBlock());
    auto wait = dist::WaitOp::create(builder, loc, types, op.getResult(0));
    size_t at = 0;
    for (dist::AllReduceOp member : group.members) {
      for (mlir::Value result : member->getResults())
        result.replaceAllUsesWith(wait.getResult(at++));
      member.erase();
    }
  }
};

}  // namespace
}  // namespace dtranspile::passes
