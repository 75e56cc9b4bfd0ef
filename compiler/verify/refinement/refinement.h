// Rung 4: @reference is @source with the changes that the job declares, and nothing else, over the
// real numbers. docs/verification.md, Rung 4.
#pragma once

#include "compiler/analysis/report.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtranspile::verify {

// Whether there is anything to prove: the job holds a @reference beside its @source, or declares
// changes.
bool needsRefinement(mlir::ModuleOp job);

// Unknown where the proof does not succeed: it is no counterexample.
Rung verifyRefinement(mlir::ModuleOp job);

}  // namespace dtranspile::verify
