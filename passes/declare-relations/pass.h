// Declares relations of variables and streams of random ops. Described in pass.td.
#pragma once

#include "mlir/Pass/Pass.h"

namespace dtranspile::passes {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/declare-relations/pass.h.inc"
}  // namespace dtranspile::passes
