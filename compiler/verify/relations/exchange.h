// Jobs of geo-SGD: what trainers and servers exchange is checked by its formulas, what is left of a
// trainer's program is the reference's step on its share (docs/verification.md, Exchanges).
#pragma once

#include "compiler/verify/relations/contracts.h"
#include "mlir/IR/OwningOpRef.h"

namespace dtranspile::verify {

bool exchangesChanges(mlir::ModuleOp job);

// Obligations of the contract `geo`; and which variables it has to list.
void checkExchanges(mlir::ModuleOp job, const Contracts& contracts, Rung& findings,
                    Deviations& deviations);

// The job of one trainer by itself, without servers and without what checkExchanges has looked at:
// its @main is to be the reference's.
mlir::OwningOpRef<mlir::ModuleOp> withoutExchanges(mlir::ModuleOp job);

}  // namespace dtranspile::verify
