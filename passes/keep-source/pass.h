// Keeps the saved program before it is changed. Described in pass.td.
#pragma once

#include "mlir/Pass/Pass.h"

namespace dtranspile::passes {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/keep-source/pass.h.inc"
}  // namespace dtranspile::passes
