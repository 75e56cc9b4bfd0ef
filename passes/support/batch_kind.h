// How a value that sums a batch up (a loss) relates to the values that parts of the batch give.
// Asked by scale-loss for the factor of the gradients and, through compiler/verify, by what
// reports a value of all ranks.
#pragma once

#include "passes/support/varying.h"

namespace dtranspile::passes {

// The mean over parts is the whole's value, or their sum is, or (Equal) it does not depend on the
// batch. Mixed: it adds terms of different kinds. Parts: none of these, it is *defined* as the mean
// over parts.
enum class BatchKind { Equal, Mean, Sum, Parts, Mixed };

BatchKind batchKindOf(mlir::Value value, const Varying& varying);

}  // namespace dtranspile::passes
