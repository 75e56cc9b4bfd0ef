// Rewrites a job by an OwnerPlan. Used by sharding-owner.
#pragma once

#include "dialects/pd/declarations.h"
#include "llvm/ADT/MapVector.h"
#include "passes/sharding-owner/plan.h"

namespace dtranspile::passes {

// How a job is rewritten, beside the plan.
struct OwnerForm {
  std::string axis;
  int64_t bytes = 0;   // most bytes of parameters of a segment
  bool again = false;  // broadcast for the backward part too
};

// One pass over the plan; nothing is decided here. Ops of an owner are put off and collected, and
// stand in one guard where a number of theirs is needed by others, or at the end of their block: so
// a rank has few guards, and everything else stays where it is. What a guard gives is located at
// its owner; operands of that type become arguments of the guards that they enter.
class OwnerRewriter {
 public:
  OwnerRewriter(JobOnAxes& job, const OwnerPlan& plan, ShardComms comms, OwnerForm form);
  void run();

 private:
  void broadcastParameters();
  Started startBroadcast(llvm::MutableArrayRef<Need> segment, mlir::Operation* before);
  void reduceToOwners(const SumToOwners& sum);
  llvm::SmallVector<mlir::Value> sumReplicas(mlir::OpBuilder& builder, mlir::Location loc,
                                             int64_t owner, mlir::ValueRange parts, size_t turn);
  void rewriteBlock(mlir::Block& block);
  void needAt(mlir::Operation* op);
  void needNumbers(mlir::Operation* op, int64_t owner);
  void flush(int64_t owner, mlir::Block& block, mlir::Operation* before);
  void flushAll(mlir::Block& block, mlir::Operation* before);
  void readInside(mlir::Operation* op, mlir::Block& body);
  void shareResults(llvm::ArrayRef<mlir::Value> located, mlir::OpBuilder& builder);
  void join(mlir::Operation* op);
  void keepInStartup();
  void sinkConstant(pd::SetOp set, dist::OnOp guard);
  void declare(pd::VarOp var, int64_t owner);
  dist::SelAttr at(int64_t owner) const;
  mlir::Type located(mlir::Type type, int64_t owner) const;
  dist::OnOp guard(mlir::OpBuilder& builder, mlir::Location loc, int64_t owner,
                   mlir::ValueRange inputs, llvm::ArrayRef<mlir::Type> plainResults);
  mlir::FlatSymbolRefAttr nextComm() {
    return symbolOf(comms_.within[turn_++ % comms_.within.size()]);
  }

  JobOnAxes& job_;
  const OwnerPlan& plan_;
  ShardComms comms_;
  const OwnerForm form_;
  size_t turn_ = 0;
  pd::Declarations declarations_;
  llvm::MapVector<int64_t, std::vector<mlir::Operation*>> waiting_;  // by owner, in program order
};

}  // namespace dtranspile::passes
