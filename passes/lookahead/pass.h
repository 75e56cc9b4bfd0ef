// Slow weights that follow the updated ones every k steps. Described in pass.td.
#pragma once

#include "mlir/Pass/Pass.h"

namespace dtranspile::passes {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/lookahead/pass.h.inc"
}  // namespace dtranspile::passes
