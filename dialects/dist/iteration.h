// What a value that a loop hands from turn to turn may be (D13 of docs/dialects/dist.md): a sum, or
// state that one op moves. Asked by the dialect's verifier and by the relation analysis.
#pragma once

#include "mlir/IR/Value.h"

namespace dtranspile::dist {

// `value` is `argument`, or a sum of it and terms that a pass has put in (an op of the program adds
// what the program says, once). The sum may stand in a guard that takes the argument in, or
// captures it.
bool accumulates(mlir::Value value, mlir::Value argument);

// One batch_norm takes `argument` as its running statistics, which nothing else reads, and gives
// what is handed on in their place, in a guard too; what else reads that looks at its extents only:
// of its numbers it would see what some micro-batch has left.
bool movesState(mlir::OpOperand& handed, mlir::Value argument);

}  // namespace dtranspile::dist
