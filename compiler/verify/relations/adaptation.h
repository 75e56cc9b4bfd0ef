// Replicas that average when the loss says so (adaptive local SGD): when they do is checked by its
// formulas; a job that averages in steps that are known stands for the rest.
#pragma once

#include "compiler/verify/relations/contracts.h"
#include "mlir/IR/OwningOpRef.h"

namespace dtranspile::verify {

bool adaptsAverages(mlir::ModuleOp job);

// Obligations of the contract `local_sgd` whose period follows the loss. What comes back is the job
// with averages in every step.
mlir::OwningOpRef<mlir::ModuleOp> withoutAdaptation(mlir::ModuleOp job, Rung& findings);

}  // namespace dtranspile::verify
