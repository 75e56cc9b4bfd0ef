// From a saved program to a data-parallel job: which passes, in which order. Called by `transpile`;
// as textual pipeline `collective` by dtranspile-opt.
#pragma once

#include "compiler/strategy/collective.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace dtranspile {

// Adds the passes that a (checked) strategy asks for.
void buildCollectivePipeline(mlir::OpPassManager& manager, const CollectiveStrategy& strategy);

// Checks the strategy and turns `module` (pd.program @main, and @startup if there is one, with
// their pd.vars) into the job. The verifier runs behind every pass. On failure the module is in an
// intermediate state.
mlir::LogicalResult transpileCollective(mlir::ModuleOp module, const CollectiveStrategy& strategy);

// Makes the pipeline `collective` known to textual pipelines: options are the fields of the
// strategy.
void registerCollectivePipeline();

}  // namespace dtranspile
