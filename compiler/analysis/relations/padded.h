// Sums over flat parts, whose pads they count (pads.h).
#pragma once

#include "compiler/analysis/relations/transfer.h"

namespace dtranspile::verify {

// Takes a relation back that is a sum over flat parts with a pad that is not known to be zero, and
// says so. Operand i of the op stands for operand i of `reference`; null where there is none.
void losePads(const Scene& scene, mlir::Operation* op, mlir::Operation* reference,
              Relation& relation, Reason& reason);

}  // namespace dtranspile::verify
