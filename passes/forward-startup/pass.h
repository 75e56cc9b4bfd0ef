// Start-up reads nothing back that it has set. Described in pass.td.
#pragma once

#include "mlir/Pass/Pass.h"

namespace dtranspile::passes {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/forward-startup/pass.h.inc"
}  // namespace dtranspile::passes
