// Parameters in half precision, beside float32 copies that are updated. A part of the pass amp:
// after the casts, before the scale.
#pragma once

#include "dialects/pd/declarations.h"

namespace dtranspile::passes {

// Every updated parameter of which the forward and the backward part take nothing but its cast to
// `half` lies in that type. Reports and fails where an update has no form with two copies.
mlir::LogicalResult keepInHalf(pd::ProgramOp main, pd::ProgramOp startup, mlir::Type half,
                               pd::Declarations& declarations);

}  // namespace dtranspile::passes
