// What repeated ops read of what is kept goes to the host's memory in the forward part and comes
// back ahead of use.
#pragma once

#include <vector>

#include "passes/recompute/plan.h"

namespace dtranspile::passes {

// A repeated op, and the number of its segment, counted from the one whose gradients come first.
struct Repetition {
  mlir::Operation* op;
  int segment;
};

// `repeated`: in the order of the program, of which `steps` were all before they were put in.
// Values that are needed at once, by the segment that comes first, stay. Returns how many go.
int offload(pd::ProgramOp main, const Steps& steps, const std::vector<Repetition>& repeated);

}  // namespace dtranspile::passes
