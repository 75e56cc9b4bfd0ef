// What the backward part begins with, and factors on it. Used by scale-loss and ps-split.
#pragma once

#include <vector>

#include "passes/support/job.h"

namespace dtranspile::passes {

// Ops with the roles Backward and Loss at the top of the program, in its order.
std::vector<pd::OpView> seedsOf(pd::ProgramOp main);

// The first op with the role Loss that is none of these; null where there is none.
mlir::Operation* lossOf(pd::ProgramOp main);

// A scale behind each of them, which all that took it takes in its place. Returns the scales.
std::vector<mlir::Operation*> scaleSeeds(llvm::ArrayRef<pd::OpView> seeds, double factor);

// Takes such scales away again.
void unscaleSeeds(llvm::ArrayRef<mlir::Operation*> scales);

}  // namespace dtranspile::passes
