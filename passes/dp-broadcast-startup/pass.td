#ifndef DTRANSPILE_PASSES_DP_BROADCAST_STARTUP
#define DTRANSPILE_PASSES_DP_BROADCAST_STARTUP
include "mlir/Pass/PassBase.td"

def DpBroadcastStartup : Pass<"dp-broadcast-startup", "::mlir::ModuleOp"> {
  let summary = "rank 0 gives its initial values to all: every variable that start-up does not "
                "compute from constants alone";
  let description = [{
    Also for variables that are no parameters (running statistics, optimizer state): the framework
    broadcasts parameters only, and its replicas drift apart. At the end of the start-up program, in
    buckets of one element type and up to `megabytes`.
  }];
  let dependentDialects = ["::dtranspile::dist::DistDialect"];
  let options = [Option<"megabytes", "megabytes", "int64_t", "32",
                        "most bytes of a bucket, in MiB">];
}
#endif
