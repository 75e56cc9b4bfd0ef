// Declares the ops that are evaluated on each rank's share of the batch. Described in pass.td.
#pragma once

#include "mlir/Pass/Pass.h"

namespace dtranspile::passes {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/declare-sites/pass.h.inc"
}  // namespace dtranspile::passes
