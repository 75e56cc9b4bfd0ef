// Ops that passes have put in, or changed: what they give is what they say that they give.
#pragma once

#include "compiler/analysis/report.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtranspile::verify {

void checkInserted(mlir::ModuleOp job, Rung& rung);

}  // namespace dtranspile::verify
