// Norms inside of updates become values of their own. Described in pass.td.
#pragma once

#include "mlir/Pass/Pass.h"

namespace dtranspile::passes {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/write-out-norms/pass.h.inc"
}  // namespace dtranspile::passes
