// Operations with a root. Not for users outside of this folder.
#pragma once

#include "compiler/export/collective/emitter.h"

namespace dtranspile {

// One operation per value; on ranks that are not the root nobody reads the result.
mlir::LogicalResult exportReduce(Emitter& emitter, dist::ReduceOp op, int ring);
mlir::LogicalResult exportBroadcast(Emitter& emitter, dist::BroadcastOp op, int ring);

}  // namespace dtranspile
