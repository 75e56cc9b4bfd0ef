// What differs from rank to rank: literals in the program of one. Not for users outside of this
// folder.
#pragma once

#include "compiler/export/collective/emitter.h"

namespace dtranspile {

mlir::LogicalResult exportCoord(Emitter& emitter, dist::CoordOp op);
mlir::LogicalResult exportSlice(Emitter& emitter, dist::SliceOp op);

}  // namespace dtranspile
