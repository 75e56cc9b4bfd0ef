// Rung 1: the job is what it says it is. Op verifiers, lineage of form (D30), the manifest, and
// that every class of ranks specialises. Called by verify.cc before the other rungs, which rely on
// it.
#pragma once

#include "compiler/analysis/report.h"
#include "mlir/IR/BuiltinOps.h"
#include "nlohmann/json.hpp"

namespace dtranspile::verify {

// `manifest` may be null: a module without its folder. `given`: programs that the job's source must
// equal; null: not asked. `wellFormed`: the ops' verifiers have been asked since the module was
// read.
Rung verifyStructure(mlir::ModuleOp job, const nlohmann::ordered_json* manifest,
                     mlir::ModuleOp given, bool wellFormed);

}  // namespace dtranspile::verify
