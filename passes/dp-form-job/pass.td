#ifndef DTRANSPILE_PASSES_DP_FORM_JOB
#define DTRANSPILE_PASSES_DP_FORM_JOB
include "mlir/Pass/PassBase.td"

def DpFormJob : Pass<"dp-form-job", "::mlir::ModuleOp"> {
  let summary = "a saved program becomes a job with one role of replicas";
  let description = [{
    Input: a module with `pd.var`s, `pd.program @main` and, where there is one, `pd.program
    @startup`. Output: the same as nested module `@source`, a mesh, communicators and `dist.role
    @trainer` with copies. Copies carry `dist.src`, variables `dist.rel` (replicated), feeds whose
    leading dim is `?` `dist.batch` over the mesh's axes. Nothing communicates yet. A reshape with
    the size of the batch written into its shape is an error.

    Axes: `[dp = ranks]`, or `[inter = ranks / intra, intra]` when `intra` is given; rank = inter *
    intra_size + intra. Communicators: `comms` that carry gradients (over all axes; under `intra`
    also one per level), and one for statistics if asked for.

    Example: `dp-form-job{ranks=4}`

        pd.program @main { %x = pd.input "x" : tensor<?x13xf32> … }
        --->
        dist.mesh @world [dp = 4]
        dist.comm @grad0 on @world over [dp] group {carries = "gradients"}
        module @source { pd.program @main { … } }
        dist.role @trainer on @world {
          pd.program @main { %x = pd.input "x" {dist.batch = #dist.batch<0: dp>} : tensor<?x13xf32> … } }
  }];
  let dependentDialects = ["::dtranspile::dist::DistDialect"];
  let options = [
    Option<"ranks", "ranks", "int64_t", "1", "number of replicas">,
    Option<"intra", "intra", "int64_t", "0", "ranks of an inner group (hierarchical communication); "
                                             "0: none">,
    Option<"comms", "comms", "int64_t", "1", "communicators for gradients (nccl_comm_num)">,
    Option<"statistics", "statistics", "bool", "false", "also a communicator for batch statistics">,
    ListOption<"batchDims", "batch-dims", "std::string",
               "NAME=dim or NAME=none: the batch dim of a feed, instead of dim 0 where it is `?`">,
  ];
}
#endif
