// How requests to servers wait, and which rows of them travel: attributes that change what servers
// get, and that no value of the program shows (docs/dialects/dist.md, Changes).
#pragma once

#include "compiler/verify/relations/contracts.h"

namespace dtranspile::verify {

void checkQueues(mlir::ModuleOp job, const Contracts& contracts, Rung& findings);

}  // namespace dtranspile::verify
