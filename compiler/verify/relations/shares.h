// Contracts that say of every rank's step that it is the reference's on the rank's own share.
#pragma once

#include "compiler/verify/relations/contracts.h"

namespace dtranspile::verify {

// That ranks see shares of the batch, and each of its feeds.
void checkShares(mlir::ModuleOp job, const Contracts& contracts, Rung& findings);

}  // namespace dtranspile::verify
