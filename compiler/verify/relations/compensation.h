// Servers that compensate gradients for their delay (DC-ASGD): the correction is checked by its
// formula; without it, as with pushes of one trainer only, servers do what the reference does.
#pragma once

#include "compiler/verify/relations/contracts.h"
#include "mlir/IR/OwningOpRef.h"

namespace dtranspile::verify {

bool compensatesDelay(mlir::ModuleOp job);

// Obligations of the contract `delay_compensation`, and the variables that it has to list. What
// comes back is the job with uncorrected gradients.
mlir::OwningOpRef<mlir::ModuleOp> withoutCompensation(mlir::ModuleOp job,
                                                      const Contracts& contracts, Rung& findings,
                                                      Deviations& deviations);

}  // namespace dtranspile::verify
