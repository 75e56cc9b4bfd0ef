// Sums of several values at once (dist.all_reduce), as bucket makes them. Used by sharding and
// reduce-by-levels, which give some of the values another way.
#pragma once

#include "dialects/dist/dist.h"

namespace dtranspile::passes {

// The op whose results are the sums: the wait of a sum that is started, else the sum itself.
mlir::Operation* resultsOf(dist::AllReduceOp sum);

// A sum of its own of some of the values of `sum`, by their position, started and waited for where
// `sum` is; its results take the place of theirs. `sum` is left as it is, with those results
// unused.
dist::AllReduceOp takeApart(dist::AllReduceOp sum, llvm::ArrayRef<unsigned> members);

}  // namespace dtranspile::passes
