// Says to which stage of a pipeline every op belongs. Described in pass.td.
#pragma once

#include "mlir/Pass/Pass.h"

namespace dtranspile::passes {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/assign-stages/pass.h.inc"
}  // namespace dtranspile::passes
