// What of a program is needed for its fetches and for what it changes: persistables, the host,
// other ranks. Ops that are not are not lowered.
#pragma once

#include "llvm/ADT/DenseSet.h"
#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"

namespace dtranspile::lower {

class Needed {
 public:
  void add(mlir::Value value) { values_.insert(value); }
  // Draws without a seed of their own are one sequence, as in start-up programs: those that nobody
  // reads are made too, for the sake of those after them.
  void keepSequence() { keepsSequence_ = true; }
  // Marks what a block is needed for, from its end: after what is read of it outside has been
  // added. Whether any op of it is.
  bool mark(mlir::Block& block);

  bool contains(mlir::Value value) const { return values_.contains(value); }
  bool isLive(mlir::Operation* op) const { return live_.contains(op); }

 private:
  bool mark(mlir::Operation& op);
  void markAll(mlir::Operation* op);
  bool markGuard(mlir::Operation* guard);
  bool markRepeated(mlir::Operation* op);
  void take(mlir::Operation& op);

  bool keepsSequence_ = false;
  llvm::DenseSet<mlir::Value> values_;
  llvm::DenseSet<mlir::Operation*> live_;
};

}  // namespace dtranspile::lower
