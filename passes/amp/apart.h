// Mixed precision for ranks that have some of the gradients and parameters each (stages of a
// pipeline): nothing of the update is of several parameters but numbers. A part of the pass amp.
#pragma once

#include <vector>

#include "dialects/pd/pd.h"
#include "llvm/ADT/SetVector.h"

namespace dtranspile::passes {

// Casts of complete gradients become the last ops of the backward part, which the gradients are
// complete behind: micro-batches are added up in float32.
void completeInFloat32(pd::ProgramOp main);

using Ops = llvm::SetVector<mlir::Operation*>;

// Of an update's ops, in program order, those that a step which is left out may run all the same,
// since they are pure and follow from gradients and numbers alone (a clip by the norm of all
// gradients); and the others by the variables that they set: each of `groups` sets its own, and
// takes nothing of another one.
struct Apart {
  Ops common;
  std::vector<Ops> groups;
};
Apart takeApart(const Ops& ops);

}  // namespace dtranspile::passes
