#ifndef DTRANSPILE_PASSES_SYNC_BATCH_NORM
#define DTRANSPILE_PASSES_SYNC_BATCH_NORM
include "passes/field_options.td"

def SyncBatchNorm : Pass<"sync-batch-norm", "::mlir::ModuleOp"> {
  let summary = "batch norm in training uses the statistics of the whole batch";
  let description = [{
    `batch_norm` and its gradient become composites `sync_batch_norm(_grad)`: the body forms
    per-rank means, sums them over the axes and goes on with the mean of the whole batch (parts
    are equal). Forward: mean and mean of squares in one all_reduce; backward: mean of dy and of
    dy*xhat. Gradients of scale and bias stay sums over the own part: they are reduced as any
    gradient. Formulas: Ioffe and Szegedy, arXiv 1502.03167, section 3, with variance E[x^2] -
    E[x]^2 as the framework's op has it.
  }];
  let dependentDialects = ["::dtranspile::dist::DistDialect"];
  let options = [axesOption];
}
#endif
