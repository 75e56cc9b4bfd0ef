// Trainers that train by themselves and exchange changes with servers. Described in pass.td.
#pragma once

#include "mlir/Pass/Pass.h"

namespace dtranspile::passes {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/ps-exchange/pass.h.inc"
}  // namespace dtranspile::passes
