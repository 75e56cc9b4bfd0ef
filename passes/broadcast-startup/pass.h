// Gives all ranks the initial values of rank 0. Described in pass.td.
#pragma once

#include "mlir/Pass/Pass.h"

namespace dtranspile::passes {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/broadcast-startup/pass.h.inc"
}  // namespace dtranspile::passes
