// Gives every layer a rate of its own under momentum. Described in pass.td.
#pragma once

#include "mlir/Pass/Pass.h"

namespace dtranspile::passes {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/lars/pass.h.inc"
}  // namespace dtranspile::passes
