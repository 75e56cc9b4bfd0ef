// A branch that a pass adds to a program. Used by gradient-merge.
#pragma once

#include "dialects/pd/declarations.h"
#include "dialects/pd/pd.h"

namespace dtranspile::passes {

// pd.conditional_block at the end of the program, with role Optimize and an empty block that reads
// and sets variables only: nothing is captured, and nothing yielded but by a pd.yield that the
// caller adds. `scope` is the name of its step scope, which is declared.
mlir::Operation* addBranch(pd::ProgramOp program, mlir::Value condition, llvm::StringRef scope,
                           pd::Declarations& declarations);

}  // namespace dtranspile::passes
