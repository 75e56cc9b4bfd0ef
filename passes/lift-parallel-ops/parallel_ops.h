// The ops that the framework's parallel layers make, and what their attributes have to say. Used by
// lift-parallel-ops.
#pragma once

#include <string>

#include "dialects/pd/op_view.h"
#include "mlir/IR/BuiltinTypes.h"

namespace dtranspile::passes {

// How a value lies on the ranks of a group. Gathered: in parts along the dim that its op makes
// longer.
enum class Lies { Nothing, Whole, Term, Rows, Columns, Gathered };

struct SlotLies {
  llvm::StringLiteral slot = "";
  Lies lies = Lies::Nothing;
};

struct ParallelOp {
  llvm::StringLiteral type;
  SlotLies in[3], out[2];
  llvm::StringLiteral becomes = "";  // on one device; empty: what it takes
  bool counts = false;               // says how many ranks there are
};

// Null for other ops.
const ParallelOp* parallelOp(mlir::Operation* op);
// Ops of start-up that make communicators, or send equal values round: every job makes its own.
bool setsUpGroups(mlir::Operation* op);

// A tensor of which this is one of `parts` parts along `dim`. What is not known, and what has no
// such dim, stays so.
mlir::Type wholeType(mlir::Type part, int64_t dim, int64_t parts);

// What the ops of a program say of the group that it is written for.
class Group {
 public:
  explicit Group(int64_t degree) : degree_(degree) {}

  int64_t degree() const { return degree_; }
  bool found() const { return first_ || ranked_; }
  // The rank that the program is of; -1 where no op has said so.
  int64_t rank() const { return ranked_ ? rank_ : -1; }
  // Ring, number of ranks, rank and rows of the op; reports and fails where they do not fit the
  // degree, or what was seen before.
  mlir::LogicalResult see(pd::OpView op);

 private:
  mlir::LogicalResult seeRank(pd::OpView op, int64_t rank);
  mlir::LogicalResult seeRows(pd::OpView op);

  int64_t degree_;
  mlir::Operation* first_ = nullptr;   // that has named the ring
  mlir::Operation* ranked_ = nullptr;  // that has named the rank
  int64_t ring_ = 0, rank_ = 0;
};

}  // namespace dtranspile::passes
