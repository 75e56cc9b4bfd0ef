// What the bodies of composites must compute. Batch norm over the whole batch is written down here
// as formulas; a body is one of them if its results are the same terms, whatever its ops are called
// and in which order they stand.
#pragma once

#include <string>

#include "compiler/analysis/relations/relation.h"
#include "dialects/dist/dist.h"

namespace dtranspile::verify {

// Says which result of a sync_batch_norm or sync_batch_norm_grad is not the formula; empty where
// all are.
std::string bodyDiffers(dist::CompositeOp composite, const Axes& axes);

}  // namespace dtranspile::verify
