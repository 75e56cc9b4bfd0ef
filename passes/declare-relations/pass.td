#ifndef DTRANSPILE_PASSES_DECLARE_RELATIONS
#define DTRANSPILE_PASSES_DECLARE_RELATIONS
include "passes/field_options.td"

def DeclareRelations : Pass<"declare-relations", "::mlir::ModuleOp"> {
  let summary = "declares which variables differ between replicas and which random draws do";
  let description = [{
    Follows what depends on a rank's part of the batch. A variable whose value at the end of a step
    does so gets the relation X: `batch_statistics` for running statistics of batch norm,
    `local_sgd` for optimizer state between averages, `local_state` for others; each tag becomes a
    contract of the job. An op with role Optimize that writes such a value without a contract that
    allows it is an error: the gradient was not reduced. Random ops whose operands depend on the
    part of the batch draw differently on every rank (`dist.streams`), others alike. Those of
    start-up are left alone: without a seed their draws differ, and broadcast-startup has chosen
    one. A parameter is never X: one that local-sgd did not average is an error.
  }];
  let dependentDialects = ["::dtranspile::dist::DistDialect"];
  let options = [axesOption];
}
#endif
