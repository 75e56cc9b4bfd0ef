// Reductions to all ranks, and what was started and is waited for later. Not for users outside of
// this folder.
#pragma once

#include "compiler/export/collective/emitter.h"

namespace dtranspile {

class Sums {
 public:
  explicit Sums(Emitter& emitter) : emitter_(emitter) {}

  // One op, or one on a flat buffer for a bucket of several values. Sums of split layers are ops by
  // themselves with use_model_parallel, as the framework's parallel layers make them.
  mlir::LogicalResult allReduce(dist::AllReduceOp op, int ring);
  // Parts along dim 0 (c_allgather) or the last one (c_concat) put together.
  mlir::LogicalResult allGather(dist::AllGatherOp op, int ring);
  // A sum in levels (started reduce_scatter, all_reduce, all_gather, with their waits) is written
  // as one sum over the ring of all its ranks: the framework has its own hierarchy below the
  // operator. It starts where the first level does and is waited for where the last one is.
  mlir::LogicalResult foldLevels(dist::ReduceScatterOp scatter);
  // Whether the op is a level of such a sum that has been written already; asked once.
  bool takeFolded(mlir::Operation* op) { return folded_.erase(op); }
  // Of a group of one: nothing moves, now or at its wait.
  mlir::LogicalResult identity(mlir::Operation* op);
  mlir::LogicalResult finish(dist::WaitOp wait);

 private:
  struct Started {
    llvm::SmallVector<mlir::Value> results;  // empty: nothing moves
    mlir::Value buffer;
    int ring = 0, role = 0;
  };
  mlir::LogicalResult anyOf(dist::AllReduceOp op, int ring);
  mlir::LogicalResult sumLayers(dist::AllReduceOp op, int ring);
  // The reduction of an op's operands on a ring, in one buffer when there are several.
  Started start(mlir::Operation* op, dist::Reduce reduce, int ring, bool waits);
  // Copies the values into one buffer that they are parts of from then on.
  mlir::Value coalesce(mlir::Operation* op, llvm::SmallVectorImpl<mlir::Value>& values, int role);
  // The ring over the axes of both comms; of several, the one that stands where `within` stands
  // among those of its own axes. -1: there is none.
  int ringOver(mlir::FlatSymbolRefAttr within, mlir::FlatSymbolRefAttr between) const;

  Emitter& emitter_;
  llvm::DenseMap<mlir::Operation*, Started> started_;  // by the wait
  llvm::DenseSet<mlir::Operation*> folded_;  // levels of sums that have been written already
};

}  // namespace dtranspile
