// D15: the order in which a schedule runs the tasks of a `dist.micro` respects every SSA edge of
// its body. Called by structure.cc.
#pragma once

#include "compiler/analysis/report.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtranspile::verify {

// Adds a message for every dist.micro of the job whose schedule cannot be expanded (unknown),
// leaves tasks out or runs one before what it takes (refuted).
void checkSchedules(mlir::ModuleOp job, Rung& rung);

}  // namespace dtranspile::verify
