// float32 becomes float64 throughout. Described in pass.td.
#pragma once

#include "mlir/Pass/Pass.h"

namespace dtranspile::passes {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/widen-float64/pass.h.inc"
}  // namespace dtranspile::passes
