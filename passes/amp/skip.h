// Steps that change nothing: what updates moves into a branch. Last part of the pass amp.
#pragma once

#include "dialects/pd/declarations.h"
#include "dialects/pd/pd.h"
#include "llvm/ADT/StringSet.h"

namespace dtranspile::passes {

// Ops with role Optimize that `bad` does not follow from, and what they set, are run where it does
// not hold. What else of the program sets variables (running statistics, counters of schedules) is
// run in any case, and taken back where it holds. Variables in `free` change in any case. `apart`:
// in a branch for every parameter (apart.h), not in one. Fails with a message where something takes
// what the update has left.
mlir::LogicalResult skipWhere(pd::ProgramOp main, mlir::Value bad, const llvm::StringSet<>& free,
                              bool apart, pd::Declarations& declarations);

}  // namespace dtranspile::passes
