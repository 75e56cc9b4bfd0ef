// What a trial says as a section of the report: messages at ops of the job. Called by `verify`.
#pragma once

#include "compiler/analysis/report.h"
#include "compiler/verify/execution/scope.h"
#include "runtime/trial/result.h"

namespace dtranspile::verify {

// The section with its name, before anything has been found out.
Rung executionRung();

// Nothing was executed, for this reason.
Rung notExecuted(std::string why);

// The op of a role that leaves a variable as it is, or gives the last value of a name; null where
// there is none.
mlir::Operation* makerOf(mlir::ModuleOp job, llvm::StringRef role, llvm::StringRef name);

// Adds what the trial has found. `values`: differences among the values of the step, found by a
// second trial; may be empty.
void addOutcome(mlir::ModuleOp job, const ExecutionScope& scope, const trial::Result& result,
                llvm::ArrayRef<trial::Difference> values, Rung& rung);

}  // namespace dtranspile::verify
