#ifndef DTRANSPILE_PASSES_PS_STARTUP
#define DTRANSPILE_PASSES_PS_STARTUP
include "passes/field_options.td"

def PsStartup : Pass<"ps-startup", "::mlir::ModuleOp"> {
  let summary = "servers draw the initial values and keep their blocks; trainers pull them";
  let description = [{
    The servers' start-up program computes what they hold with the ops of the single-device one, on
    whole variables, and each server keeps its blocks: any number of servers starts from the same
    parameters. What is drawn without a seed is broadcast among several servers before it is cut; by
    one seed all of them draw the same. Trainers pull
    what servers hold and they read, initialise the rest themselves, and forget variables that only
    the update part has. A variable that trainers draw at start-up and never set (a frozen
    parameter) becomes one of the servers too, so that all trainers begin with the same. Trainers of
    geo-SGD keep what they have pulled in the snapshots too.

    Example: `ps-startup{axes=dp}`

        dist.role @trainer … %w0 = pd.uniform_random … ; pd.set @w, %w0
        --->
        dist.role @trainer … %w0 = dist.pull @pserver::@w on @rounds ; pd.set @w, %w0 ; dist.phase pull on @rounds
        dist.role @pserver … %w0 = pd.uniform_random … ; %own = dist.slice %w0 dim 0 layout <blocks(10, per 5, first 0)> over [ps] ; pd.set @w, %own
  }];
  let dependentDialects = ["::dtranspile::dist::DistDialect"];
  let options = [axesOption];
}
#endif
