// Gives every parameter an owner. Described in pass.td.
#pragma once

#include "mlir/Pass/Pass.h"

namespace dtranspile::passes {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/sharding-owner/pass.h.inc"
}  // namespace dtranspile::passes
