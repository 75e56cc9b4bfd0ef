// Updates every so many steps, with merged gradients. Described in pass.td.
#pragma once

#include "mlir/Pass/Pass.h"

namespace dtranspile::passes {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/gradient-merge/pass.h.inc"
}  // namespace dtranspile::passes
