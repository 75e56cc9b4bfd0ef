#ifndef DTRANSPILE_PASSES_DECLARE_RELATIONS
#define DTRANSPILE_PASSES_DECLARE_RELATIONS
include "passes/field_options.td"

def DeclareRelations : Pass<"declare-relations", "::mlir::ModuleOp"> {
  let summary = "declares which variables differ between replicas and which random draws do";
  let description = [{
    Asks the relation analysis along which of the axes a value differs between ranks; where it knows
    no relation, along those of the op's operands. A variable whose value at the end of any step
    differs gets the relation X along these axes, and keeps what it is declared along others:
    `batch_statistics` for running statistics of batch norm, `local_sgd` for optimizer state between
    averages, `local_state` for others; each tag becomes a contract of the job. An op with role
    Optimize that writes such a value without a contract that allows it is an error: the gradient
    was not reduced. Random ops draw differently along the axes along which their operands do
    (`dist.streams`), alike along others. Those of start-up are left alone: without a seed their
    draws differ, and broadcast-startup has chosen one. A parameter is never X: one that local-sgd
    did not average is an error. Along an axis of one rank nothing differs.

    Example: `declare-relations{axes=dp}`

        pd.var @mean : tensor<3xf32> {dist.rel = #dist.rel<"mean">}
        --->
        pd.var @mean : tensor<3xf32> {dist.rel = #dist.rel<"mean", dp: X(batch_statistics)>}
  }];
  let dependentDialects = ["::dtranspile::dist::DistDialect"];
  let options = [axesOption];
}
#endif
