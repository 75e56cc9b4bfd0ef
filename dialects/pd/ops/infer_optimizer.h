// Inference and constraints of optimizers and loss scaling: state out takes after state in.
#pragma once

#include "dialects/pd/ops/infer_common.h"

namespace dtranspile::pd {

// Every output `SOut` takes after input `S`; the few pairs of other names are a table in the .cc.
llvm::LogicalResult inferStateUpdate(InferContext& c);
llvm::LogicalResult inferCheckFinite(InferContext& c);

extern const Constraint kOptimizerConstraints[2];  // C1 Grad like Param, C2 one learning rate

}  // namespace dtranspile::pd
