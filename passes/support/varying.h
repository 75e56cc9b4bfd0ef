// Which values of a data-parallel program differ between replicas: those that depend on a rank's
// part of the batch and have not been reduced. A cheap over-approximation for passes that must know
// (which variables to declare, which random draws differ); what the job claims is proved by
// compiler/verify.
#pragma once

#include "dialects/dist/dist.h"
#include "dialects/pd/pd.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace dtranspile::passes {

class Varying {
 public:
  // Follows `program` in textual order, steps repeated until the variables' states no longer change
  // (at most once per variable).
  explicit Varying(pd::ProgramOp program);

  bool contains(mlir::Value value) const { return values_.contains(value); }

  // Variables that differ between replicas at the end of a step, with the last op that set them, in
  // order of first set.
  const llvm::MapVector<mlir::StringAttr, pd::SetOp>& variables() const { return atEnd_; }

 private:
  void runBlock(mlir::Block& block);
  void runOp(mlir::Operation& op);
  void runRegions(mlir::Operation& op);
  void mark(mlir::ValueRange values) { values_.insert(values.begin(), values.end()); }
  bool anyOperand(mlir::Operation& op) const;

  llvm::DenseSet<mlir::Value> values_;
  llvm::DenseSet<mlir::StringAttr>
      now_;  // variables that differ at the place that is being followed
  llvm::MapVector<mlir::StringAttr, pd::SetOp> atEnd_;
};

}  // namespace dtranspile::passes
