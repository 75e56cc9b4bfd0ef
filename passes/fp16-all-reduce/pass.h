// Gradients travel in half precision. Described in pass.td.
#pragma once

#include "mlir/Pass/Pass.h"

namespace dtranspile::passes {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/fp16-all-reduce/pass.h.inc"
}  // namespace dtranspile::passes
