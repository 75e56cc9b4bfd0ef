// Decides which server holds which blocks. Described in pass.td.
#pragma once

#include "mlir/Pass/Pass.h"

namespace dtranspile::passes {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/ps-place/pass.h.inc"
}  // namespace dtranspile::passes
