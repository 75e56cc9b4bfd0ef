// Jobs of geo-SGD: what trainers and servers exchange is checked by its formulas, what is left of
// the trainers' program is the reference's step on each one's share (docs/verification.md,
// Exchanges).
#pragma once

#include "compiler/verify/relations/contracts.h"
#include "mlir/IR/OwningOpRef.h"

namespace dtranspile::verify {

bool exchangesChanges(mlir::ModuleOp job);

// Obligations of the contract `geo`; and which variables it has to list.
void checkExchanges(mlir::ModuleOp job, const Contracts& contracts, Rung& findings,
                    Deviations& deviations);

// All trainers without servers and without what checkExchanges has looked at: the mean over the
// trainers stands in the place of the exchange, in every step. `deviations`: as it has found them.
mlir::OwningOpRef<mlir::ModuleOp> withoutExchanges(mlir::ModuleOp job,
                                                   const Deviations& deviations);

}  // namespace dtranspile::verify
