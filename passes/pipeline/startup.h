// Every stage makes its own initial values.
#pragma once

#include "passes/pipeline/once.h"

namespace dtranspile::passes::pipeline {

// Ops of the start-up program go to the stages that have the variables they are for. What several
// stages hold and is drawn is one stage's draw.
mlir::LogicalResult placeStartup(Target& target,
                                 const llvm::MapVector<mlir::StringAttr, Stages>& variables);

}  // namespace dtranspile::passes::pipeline
