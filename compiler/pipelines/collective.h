// From a saved program to a data-parallel job: which passes, in which order. The pipeline is text,
// for `transpile` and dtranspile-opt alike: what one runs the other runs.
#pragma once

#include <string>
#include <vector>

#include "compiler/strategy/strategy.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtranspile {

// "builtin.module(check-source,form-job{axes=dp:4 …},…)": the passes that a request asks for,
// checks between them included. The request must have no problems (problemsOf).
std::string collectivePipeline(const Strategy& strategy);

// One pass of a request: its name, its options as text, what it does, and the field that asks for
// it (empty: every request has it).
struct PipelineStep {
  std::string pass, options, summary, field;
};
std::vector<PipelineStep> collectiveSteps(const Strategy& strategy);

// Reports the request's problems, or runs its pipeline on `module` (pd.program @main, and @startup
// if there is one, with their pd.vars), which becomes the job. The verifier runs after every pass.
// On failure the module is in an intermediate state.
mlir::LogicalResult transpileCollective(mlir::ModuleOp module, const Strategy& strategy);

// Makes known to textual pipelines: all passes, the checks, and `collective{FIELD=VALUE …}`, which
// stands for the pipeline of that request. Safe to call twice.
void registerCollectivePipeline();

}  // namespace dtranspile
