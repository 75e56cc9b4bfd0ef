// Variables of a role that may hold a part of what the reference's hold, and start-up that keeps
// the part. Used by sharding and tensor-parallel.
#pragma once

#include <vector>

#include "passes/support/job.h"

namespace dtranspile::passes {

// Where a variable is read and set in a program, sub-blocks included.
struct Touches {
  std::vector<pd::GetOp> gets;
  std::vector<pd::SetOp> sets;
};
llvm::DenseMap<mlir::StringAttr, Touches> touchesOf(pd::ProgramOp program);

// The type, where it is a tensor of known extents; null otherwise.
mlir::RankedTensorType fixedTensor(mlir::Type type);

// Variables of a role that can hold a part: tensors of known extents and memory of their own, that
// all ranks along the axes of the pass hold whole so far, and that start-up sets at the top of its
// program and only reads after that.
class Storable {
 public:
  explicit Storable(const JobOnAxes& job);
  bool operator()(pd::VarOp var) const;

 private:
  bool isWholeAlong(dist::RelAttr relation) const;
  mlir::ArrayAttr axes_;
  llvm::DenseSet<mlir::StringAttr> established_, shared_;
};

// Start-up makes these variables whole and keeps a part of each: what it sets before its last set,
// and reads in between, is a value of the program only.
using CutVariable =
    llvm::function_ref<mlir::Value(mlir::OpBuilder&, mlir::Location, pd::VarOp, mlir::Value whole)>;
void keepPartsInStartup(pd::ProgramOp startup, llvm::ArrayRef<pd::VarOp> variables,
                        CutVariable cut);

}  // namespace dtranspile::passes
