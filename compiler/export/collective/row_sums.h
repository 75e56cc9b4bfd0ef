// Sums of SelectedRows over a ring. Not for users outside of this folder.
#pragma once

#include "compiler/export/collective/emitter.h"

namespace dtranspile {

// The framework's c_allreduce_sum takes dense tensors. A sum of SelectedRows is all rows with all
// values, and those are the ids and the gradient that the embedding's gradient op reads: these are
// gathered over the ring, and the op makes the sum of them, so that nothing is left to do for the
// all_reduce itself. A diagnostic where a value is anything else.
mlir::LogicalResult gatherRows(Emitter& emitter, dist::AllReduceOp op, int ring);

}  // namespace dtranspile
