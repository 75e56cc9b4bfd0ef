// What passes share that leave parameters with some ranks and bring them to all before they are
// used: communicators along the axis, and parameters in segments. Used by sharding and
// sharding-owner.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "llvm/ADT/MapVector.h"
#include "passes/support/job.h"

namespace dtranspile::passes {

// Communicators, by turns: entry i belongs to the i-th one that carries gradients.
// Gradients may travel on several communicators by turns, so that buckets overlap; what is made of
// them follows on the axis's own communicator of the same turn, and on that between the axes.
struct ShardComms {
  std::vector<dist::CommOp> all;      // over all replicas
  std::vector<dist::CommOp> within;   // over the axis that parameters are shared out over
  std::vector<dist::CommOp> between;  // over the other axes; none where there are no others
  // In front of a pipeline: over the micro-batches, by themselves.
  dist::CommOp micro;
};

// `all`: those that carry gradients over all axes of the job. `micro`: the axis of the
// micro-batches, or empty.
ShardComms makeShardComms(const JobOnAxes& job, llvm::StringRef axis, llvm::StringRef micro,
                          std::vector<dist::CommOp> all);

// Whether it is one of the axes of the job.
bool hasAxis(const JobOnAxes& job, llvm::StringRef name);

// Why gradients stay whole on every rank, and whose.
using KeptWhole =
    llvm::MapVector<std::string, std::vector<std::string>, std::map<std::string, unsigned>>;
// A remark for each reason; `pass` is the name that they begin with.
void reportKept(pd::ProgramOp main, llvm::StringRef pass, const KeptWhole& kept);

// What one operation of a segment brings to all ranks: a parameter, for the ops of one phase.
struct Need {
  pd::VarOp var;
  std::vector<mlir::OpOperand*> uses;
  mlir::Operation* first = nullptr;
  bool backward = false;
  size_t number = 0;  // in the order of the variables
};

// The needs of a program, in the order of their first use, in runs of at most `bytes`. `isTaken`:
// whether a use of what a variable holds is one. With `again` a parameter is needed in the forward
// part, and again in the backward part: in between nobody has it whole.
std::vector<std::vector<Need>> segmentsOf(pd::ProgramOp main, llvm::ArrayRef<pd::VarOp> variables,
                                          llvm::function_ref<bool(mlir::OpOperand&)> isTaken,
                                          int64_t bytes, bool again);

// Operations of a segment that are under way, and what each of them brings.
struct Started {
  std::vector<mlir::Value> pending;
  std::vector<std::vector<Need*>> needs;  // by operation
};

// One segment is under way while the one before it is computed with: each is started where the one
// before it is first used, and waited for at its own first use.
void overlapSegments(
    std::vector<std::vector<Need>>& segments,
    llvm::function_ref<Started(llvm::MutableArrayRef<Need>, mlir::Operation* before)> start);

}  // namespace dtranspile::passes
