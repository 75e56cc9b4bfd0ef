// Rung 2: every value of every role has one relation to the reference, variables keep theirs over
// start-up and steps, gradients are reduced exactly once and with the right scale. Called by
// verify.cc; declareSites by the pipelines that make data-parallel jobs.
#pragma once

#include "compiler/analysis/report.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtranspile::verify {

// `loss`: variable whose value must have a relation too; empty: none.
Rung verifyRelations(mlir::ModuleOp job, llvm::StringRef loss);

// Runs the inference and declares the sites it finds: ops behind which the job equals the reference
// on each part of the batch and not on the whole. Adds the entry {tag = "parts", statement, sites}
// to the module's `dist.contracts`; leaves the module alone where there is none.
void declareSites(mlir::ModuleOp job);

// How to be rid of a site at an op of this type; for messages that require the whole batch.
std::string siteRemedy(llvm::StringRef type);

}  // namespace dtranspile::verify
