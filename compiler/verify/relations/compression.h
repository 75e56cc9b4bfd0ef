// Updates that send the largest elements of their gradients only (deep gradient compression): the
// bodies are checked by their formulas; without them ranks sum gradients as the reference does.
#pragma once

#include "compiler/verify/relations/contracts.h"
#include "mlir/IR/OwningOpRef.h"

namespace dtranspile::verify {

bool compressesGradients(mlir::ModuleOp job);

// Obligations of the contract `dgc`, and what it has to list. What comes back is the job with dense
// sums of gradients in the place of what is compressed.
mlir::OwningOpRef<mlir::ModuleOp> withoutCompression(mlir::ModuleOp job, const Contracts& contracts,
                                                     Rung& findings, Deviations& deviations);

}  // namespace dtranspile::verify
