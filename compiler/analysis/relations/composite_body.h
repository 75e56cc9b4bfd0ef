// What the bodies of composites must be. Batch norm over the whole batch is written down here as
// formulas; a body is one of them if its results are the same terms, whatever its ops are called
// and in which order they stand. A lookup asks the servers for the rows that its op would read.
#pragma once

#include <string>

#include "compiler/analysis/relations/relation.h"
#include "dialects/dist/dist.h"

namespace dtranspile::verify {

// Whether composites of this name stand for ops of the reference of this type.
bool compositeStandsFor(llvm::StringRef composite, llvm::StringRef type);

// Composites that take rows of a server's variable in place of the variable.
bool isLookup(dist::CompositeOp composite);

// Says which result of a sync_batch_norm or sync_batch_norm_grad is not the formula; empty where
// all are.
std::string bodyDiffers(dist::CompositeOp composite, const Axes& axes);

// The request of a lookup. Null, with what is wrong in `why`, where its body is no lookup, or one
// of other ids, of another variable or with another padding than its op has.
dist::LookupOp requestOf(dist::CompositeOp composite, std::string& why);

}  // namespace dtranspile::verify
