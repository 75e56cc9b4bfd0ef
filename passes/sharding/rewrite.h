// Rewrites a job by a ShardPlan. Used by sharding.
#pragma once

#include "passes/sharding/plan.h"
#include "passes/support/shards.h"

namespace dtranspile::passes {

// How a job is rewritten, beside the plan.
struct ShardForm {
  std::string axis;
  int64_t bytes = 0;         // most bytes of parameters that one operation puts together
  bool addsUpParts = false;  // over micro-batches: parts, not what is cut afterwards
};

// One pass over the plan; nothing is decided here. Types of parts come first, then operands, since
// an op on parts needs the cut of what is whole; parameters are gathered before sums are cut, since
// both ask for the uses as the plan knew them. Start-up depends on which variables hold parts only.
// Updates with norms are last, since they become others.
class ShardRewriter {
 public:
  ShardRewriter(JobOnAxes& job, const ShardPlan& plan, ShardComms comms, ShardForm form);
  void run();

 private:
  // All bytes that a ring all_reduce would send, but half of them later: reduce_scatter gives each
  // rank the part of the gradient that it updates by, and the other half is the all_gather of the
  // parameters (publish, or gatherParameters of stage 3).
  void cutSum(const SumToCut& sum);
  void rewriteOperands(mlir::Operation* op);
  mlir::Value cut(mlir::OpBuilder& builder, mlir::Location loc, mlir::Value whole);
  void sumOperands(mlir::Operation* op);
  pd::VarOp variableOf(pd::SetOp set);
  void publish(mlir::Block& block);
  void publish(llvm::ArrayRef<pd::SetOp> sets, mlir::Block& block, bool atOnce);
  void gatherParameters();
  Started startGather(llvm::MutableArrayRef<Need> segment, mlir::Operation* before);
  void declare(pd::VarOp var);
  void cutInStartup();
  dist::CommOp nextComm() { return comms_.within[turn_++ % comms_.within.size()]; }

  JobOnAxes& job_;
  const ShardPlan& plan_;
  ShardComms comms_;
  mlir::ArrayAttr axis_;
  const ShardForm form_;
  const mlir::SymbolTable symbols_;
  size_t turn_ = 0;
  llvm::DenseMap<std::pair<mlir::Block*, mlir::Value>, mlir::Value> cuts_, summed_;
};

}  // namespace dtranspile::passes
