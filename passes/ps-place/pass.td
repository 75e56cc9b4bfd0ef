#ifndef DTRANSPILE_PASSES_PS_PLACE
#define DTRANSPILE_PASSES_PS_PLACE
include "passes/field_options.td"

def PsPlace : Pass<"ps-place", "::mlir::ModuleOp"> {
  let summary = "decides which server holds which blocks of every parameter";
  let description = [{
    Cuts parameters along dim 0 as the framework does (docs/passes/parameter-server.md, Blocks) and
    gives the first block of each a server, the others the servers after it: `RoundRobin` in the
    order of the updates, `HashName` by a fixed hash of the parameter's name. Without `slice_var_up`
    every parameter is one block, and round robin goes in the order of that hash, so that weights
    and biases do not take turns. A parameter of which an op takes more than blocks (a norm per
    parameter inside of the update) stays in one piece. Of a table that a lookup calls
    `is_distributed` row i lies on server i mod P (`cyclic`). What comes out is a layout in closed form on
    the `pd.var`, for ps-split; `print_log` says it in remarks. With `serve=geo`, for ps-exchange,
    every parameter that the program trains is cut, however it is updated.

    Example: `ps-place{servers=2 min_block_size=8}`

        pd.var @w : tensor<10x4xf32> {parameter}
        --->
        pd.var @w : tensor<10x4xf32> {parameter, server_layout = #dist.layout<blocks(10, per 5, first 0)>}
  }];
  let dependentDialects = ["::dtranspile::dist::DistDialect"];
  let options = [axesOption, serversOption,
                 Option<"serve", "serve", "std::string", "\"sync\"",
                        "geo: servers hold parameters, and update none">] # FieldOptions<"ps-place">.options;
}
#endif
