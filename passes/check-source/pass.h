// Refuses programs that no job can be made of. Described in pass.td.
#pragma once

#include "mlir/Pass/Pass.h"

namespace dtranspile::passes {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/check-source/pass.h.inc"
}  // namespace dtranspile::passes
