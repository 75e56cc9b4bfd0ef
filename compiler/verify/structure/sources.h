// Rung 1: the programs that the job keeps. @source is what the job was made from, @reference what
// it must preserve.
#pragma once

#include "compiler/analysis/report.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtranspile::verify {

// The roles are compared with the reference only: one that differs from the source, or a job
// without a source, leaves open whether the job computes what it was made from.
void checkReference(mlir::ModuleOp job, Rung& rung);

// `given`: programs that the source must equal.
void checkGiven(mlir::ModuleOp job, mlir::ModuleOp given, Rung& rung);

}  // namespace dtranspile::verify
