#ifndef DTRANSPILE_PASSES_BROADCAST_STARTUP
#define DTRANSPILE_PASSES_BROADCAST_STARTUP
include "passes/field_options.td"

def BroadcastStartup : Pass<"broadcast-startup", "::mlir::ModuleOp"> {
  let summary = "the first rank along the axes gives its initial values to all: every variable "
                "that start-up does not compute from constants alone";
  let description = [{
    Also for variables that are no parameters (running statistics, optimizer state): the framework
    broadcasts parameters only, and its replicas drift apart. At the end of the start-up program, in
    buckets of one element type and up to `megabytes`. What has been broadcast along one of the axes
    is broadcast along the others only.

    Example: `broadcast-startup{axes=dp}`

        pd.set @w, %drawn
        --->
        pd.set @w, %drawn
        %w = pd.get @w ; %0 = dist.broadcast(%w) on @grad0 from <dp = 0> ; pd.set @w, %0
  }];
  let dependentDialects = ["::dtranspile::dist::DistDialect"];
  let options = [axesOption, Option<"megabytes", "megabytes", "int64_t", "32",
                        "most bytes of a bucket, in MiB">,
                 Option<"carries", "carries", "std::string", "\"gradients\"",
                        "what the communicators carry that it broadcasts on">];
}
#endif
