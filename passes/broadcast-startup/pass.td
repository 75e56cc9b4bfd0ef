#ifndef DTRANSPILE_PASSES_BROADCAST_STARTUP
#define DTRANSPILE_PASSES_BROADCAST_STARTUP
include "passes/field_options.td"

def BroadcastStartup : Pass<"broadcast-startup", "::mlir::ModuleOp"> {
  let summary = "the first rank along the axes gives its initial values to all: every variable "
                "that start-up does not compute from constants alone";
  let description = [{
    Also for variables that are no parameters (running statistics, optimizer state): the framework
    broadcasts parameters only, and its replicas drift apart. At the end of the start-up program, in
    buckets of one element type and up to `megabytes`.
  }];
  let dependentDialects = ["::dtranspile::dist::DistDialect"];
  let options = [axesOption, Option<"megabytes", "megabytes", "int64_t", "32",
                        "most bytes of a bucket, in MiB">];
}
#endif
