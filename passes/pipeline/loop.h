// The loop over the micro-batches: zeros, dist.micro with a task per part and direction, transfers.
#pragma once

#include "mlir/IR/IRMapping.h"
#include "passes/pipeline/plan.h"

namespace dtranspile::passes::pipeline {

// Builds what stands in front of the loop, and the loop, and says behind it what every sum came to.
// `plain` gets the values that all stages have: feeds that are not cut, results of `before`.
void buildLoop(Target& target, Plan& plan, mlir::OpBuilder& builder, mlir::IRMapping& plain);

// Makes what any stage may compute for itself, and variables, where they are needed: `values` then
// has it. `feeds`: the parts of the micro-batch.
void giveRepeatable(mlir::Value value, mlir::OpBuilder& builder, mlir::IRMapping& values,
                    const Plan& plan, const mlir::IRMapping& feeds, const mlir::IRMapping& plain);

// Whether a feed is cut into micro-batches.
bool isCut(mlir::Operation* feed, const Target& target);

// A name for another value of this type: the value's own, unless the program declares that
// otherwise, as it does of what lies in parts.
std::string nameLike(mlir::Value value, Target& target);

}  // namespace dtranspile::passes::pipeline
