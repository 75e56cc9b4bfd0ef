// A branch that a pass adds to a program. Used by gradient-merge and amp.
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

// Numbers the blocks in a branch anew after ops with blocks moved into it: a block has a higher
// number than the one around it.
void renumberWithin(mlir::Operation* branch);

}  // namespace dtranspile::passes
