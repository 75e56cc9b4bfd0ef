// Keeps two of every four weights of a layer. Described in pass.td.
#pragma once

#include "mlir/Pass/Pass.h"

namespace dtranspile::passes {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/asp/pass.h.inc"
}  // namespace dtranspile::passes
