#ifndef DTRANSPILE_PASSES_CUT_BATCH
#define DTRANSPILE_PASSES_CUT_BATCH
include "passes/field_options.td"

def CutBatch : Pass<"cut-batch", "::mlir::ModuleOp"> {
  let summary = "every rank along the axes gets its part of the batch";
  let description = [{
    Feeds whose leading dim is `?`, or those that `batch_dims` names, get `dist.batch` over the axes.
    Others go to every rank whole. A reshape with the size of the batch written into its shape is an
    error where there is more than one rank.

    Example: `cut-batch{axes=dp}`

        %x = pd.input "x" : tensor<?x13xf32>
        --->
        %x = pd.input "x" {dist.batch = #dist.batch<0: dp>} : tensor<?x13xf32>
  }];
  let dependentDialects = ["::dtranspile::dist::DistDialect"];
  let options = [axesOption] # FieldOptions<"cut-batch">.options;
}
#endif
