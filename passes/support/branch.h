// A branch that a pass adds to a program. Used by gradient-merge, amp, ps-exchange and
// tensor-parallel.
#pragma once

#include "dialects/pd/declarations.h"
#include "dialects/pd/pd.h"

namespace dtranspile::passes {

// pd.conditional_block at the end of the program, with role Optimize and an empty block whose
// arguments are the values of `captures`, each under a name of its own. It hands nothing on but
// what it sets; the caller adds its pd.yield. `scope` is the name of its step scope, which is
// declared.
mlir::Operation* addBranch(pd::ProgramOp program, mlir::Value condition, llvm::StringRef scope,
                           pd::Declarations& declarations,
                           llvm::ArrayRef<mlir::Value> captures = {});

// A conditional_block of the update that hands on nothing but what it sets, and whose block takes
// nothing from outside but its captures: as addBranch makes them.
bool isBranchOfUpdate(mlir::Operation* op);

// Numbers the blocks in a branch anew after ops with blocks moved into it: a block has a higher
// number than the one around it.
void renumberWithin(mlir::Operation* branch);

// The same, taken in every `steps`-th step: counts them in a variable `<stem>_step`, which start-up
// sets to zero. Names of values begin with `stem` too.
mlir::Operation* addBranchEvery(int64_t steps, llvm::StringRef stem, pd::ProgramOp main,
                                pd::ProgramOp startup, pd::Declarations& declarations);

// pd.fill_constant -> Out(name)
mlir::Value constant(mlir::OpBuilder& builder, mlir::Location loc, mlir::RankedTensorType type,
                     double value, llvm::StringRef name, int role, pd::Declarations& declarations);

}  // namespace dtranspile::passes
