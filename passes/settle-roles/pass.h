// Gives ops of the update the role that says so. Described in pass.td.
#pragma once

#include "mlir/Pass/Pass.h"

namespace dtranspile::passes {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/settle-roles/pass.h.inc"
}  // namespace dtranspile::passes
