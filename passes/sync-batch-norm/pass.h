// Batch statistics over all replicas. Described in pass.td.
#pragma once

#include "mlir/Pass/Pass.h"

namespace dtranspile::passes {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/sync-batch-norm/pass.h.inc"
}  // namespace dtranspile::passes
