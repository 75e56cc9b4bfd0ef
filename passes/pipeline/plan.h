// Which op of a step goes where: into a task of the loop over micro-batches, in front of the loop,
// behind it, or to every place that needs it. Made before anything is built.
#pragma once

#include "passes/pipeline/target.h"

namespace dtranspile::passes::pipeline {

// A number of a task: F of part k is k, B of part k is 2·parts − 1 − k, W of part k is 3·parts − 1
// − k (weights.h). That is the order of the text, and one in which a micro-batch can go through
// them.
using TaskId = int;

// A value of the loop that is added up over the micro-batches; or state (running statistics) that
// goes through them, of which the last one's is handed on.
struct Sum {
  mlir::Value term;  // in the program as it was
  TaskId task = 0;
  double factor = 1;          // of the sum
  mlir::Value total;          // behind the loop, located at the stage; set by the loop
  llvm::StringRef slot = {};  // of state: that of the operand of its op in whose place it stands

  bool isState() const { return !slot.empty(); }
};

// The slot of the operand of batch_norm in whose place a result stands: running statistics, which
// it moves. Empty for all other results.
llvm::StringRef stateSlot(mlir::OpResult result);

struct Plan {
  const Target* target = nullptr;
  int64_t parts = 1;
  llvm::MapVector<mlir::Operation*, TaskId> loop;              // in program order
  llvm::SetVector<mlir::Operation*> repeatable, before, once;  // once: behind the loop
  std::vector<Sum> sums;
  std::vector<std::string> states;              // variables that go through the micro-batches
  llvm::DenseMap<mlir::Value, unsigned> sumOf;  // by the term

  TaskId forward(int64_t part) const { return static_cast<TaskId>(part); }
  TaskId backward(int64_t part) const { return static_cast<TaskId>(2 * parts - 1 - part); }
  TaskId weights(int64_t part) const { return static_cast<TaskId>(3 * parts - 1 - part); }
  int64_t tasks() const { return 3 * parts; }
  bool isWeights(TaskId task) const { return task >= 2 * parts; }
  bool isBackward(TaskId task) const { return task >= parts; }  // W is of the backward part
  int64_t partOf(TaskId task) const {
    return !isBackward(task) ? task : (isWeights(task) ? 3 : 2) * parts - 1 - task;
  }
  int64_t stageOf(TaskId task) const { return partOf(task) % target->stages; }
  int64_t chunkOf(TaskId task) const { return partOf(task) / target->stages; }

  // The op of the loop that makes a value; null for others.
  mlir::Operation* maker(mlir::Value value) const {
    mlir::Operation* op = value.getDefiningOp();
    return op && loop.count(op) ? op : nullptr;
  }
  TaskId taskOf(mlir::Operation* op) const { return loop.lookup(op); }
};

// Reports and fails where the step cannot run so.
mlir::FailureOr<Plan> makePlan(const Target& target);

// The communicator of a sum over micro-batches, or other replicas, that reduce-gradients has put
// in.
bool sumsMicroBatches(dist::AllReduceOp op, const Target& target);

// What a sum over micro-batches is a sum of, and where it is no sum over anything else, the sum
// itself: values behind the loop stand for these.
mlir::Value termBehind(mlir::Value value, const Target& target);

}  // namespace dtranspile::passes::pipeline
