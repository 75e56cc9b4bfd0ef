#ifndef DTRANSPILE_PASSES_DECLARE_SITES
#define DTRANSPILE_PASSES_DECLARE_SITES
include "mlir/Pass/PassBase.td"

def DeclareSites : Pass<"declare-sites", "::mlir::ModuleOp"> {
  let summary = "declares the ops that are evaluated on each rank's share of the batch";
  let description = [{
    A site is an op after which the job equals the reference on each rank's part of the batch and
    not on the whole (docs/verification.md). The relation analysis finds them; this pass adds the
    contract `parts` with their names. What no contract makes right is left to `verify`.

    Example: `declare-sites`

        module { … }
        --->
        module attributes {dist.contracts = [{sites = ["#7 batch_norm"], statement = "…", tag = "parts"} ]} { … }
  }];
  let dependentDialects = ["::dtranspile::dist::DistDialect"];
}
#endif
