// What a program of parallel layers means on one device. Described in pass.td.
#pragma once

#include "mlir/Pass/Pass.h"

namespace dtranspile::passes {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/lift-parallel-ops/pass.h.inc"
}  // namespace dtranspile::passes
