// Sums that a loss is divided by are those of the whole batch. Described in pass.td.
#pragma once

#include "mlir/Pass/Pass.h"

namespace dtranspile::passes {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/reduce-counts/pass.h.inc"
}  // namespace dtranspile::passes
