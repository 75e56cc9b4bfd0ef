// A branch that a pass adds to a program. Used by gradient-merge and ps-exchange.
#pragma once

#include "dialects/pd/declarations.h"
#include "dialects/pd/pd.h"

namespace dtranspile::passes {

// pd.conditional_block at the end of the program, with role Optimize and an empty block that reads
// and sets variables only: nothing is captured, and nothing yielded but by a pd.yield that the
// caller adds. `scope` is the name of its step scope, which is declared.
mlir::Operation* addBranch(pd::ProgramOp program, mlir::Value condition, llvm::StringRef scope,
                           pd::Declarations& declarations);

// The same, taken in every `steps`-th step: counts them in a variable `stem`, which start-up sets
// to zero. Names of values begin with `stem` too.
mlir::Operation* addBranchEvery(int64_t steps, llvm::StringRef stem, pd::ProgramOp main,
                                pd::ProgramOp startup, pd::Declarations& declarations);

// pd.fill_constant -> Out(name)
mlir::Value constant(mlir::OpBuilder& builder, mlir::Location loc, mlir::RankedTensorType type,
                     double value, llvm::StringRef name, int role, pd::Declarations& declarations);

}  // namespace dtranspile::passes
