// Rung 1: the programs of the roles stand for those of the reference: every op, variable, feed and
// declaration is there, once, in its form and under its name.
#pragma once

#include "compiler/analysis/report.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtranspile::verify {

void checkPrograms(mlir::ModuleOp job, Rung& rung);

}  // namespace dtranspile::verify
