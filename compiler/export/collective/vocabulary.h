// Parts of a vocabulary as the framework's own operators. Not for users outside of this folder.
#pragma once

#include "compiler/export/collective/emitter.h"

namespace dtranspile {

// c_embedding, c_softmax_with_cross_entropy and their gradients.
bool isOfVocabulary(dist::CompositeOp op);
// Slots and results of the composite, and what tells its operator which part the rank has.
mlir::LogicalResult exportVocabulary(Emitter& emitter, dist::CompositeOp op);

}  // namespace dtranspile
