#ifndef DTRANSPILE_PASSES_FP16_ALL_REDUCE
#define DTRANSPILE_PASSES_FP16_ALL_REDUCE
include "passes/field_options.td"

def Fp16AllReduce : Pass<"fp16-all-reduce", "::mlir::ModuleOp"> {
  let summary = "gradients are rounded to float16 where they travel";
  let description = [{
    Every sum of one dense float32 gradient over the axes is one of float16: a cast right before it,
    and one back before its first use. Gradients are divided by the number of replicas before they
    are rounded. Declares the contract `fp16_wire` and lists the values that are rounded. Others
    (SelectedRows, other element types) travel as they are. Where the axes have one rank nothing
    travels, and nothing is rounded.

    Example:

        %r = dist.all_reduce sum(%g) on @grad0
        %u = pd.sgd Grad(%r) …
        --->
        %h = pd.cast X(%g) -> Out("w@GRAD.cast_fp16") {in_dtype = 5 : i32, out_dtype = 4 : i32, op_role = 1 : i32}
        %s = dist.all_reduce sum(%h) on @grad0
        %r = pd.cast X(%s) -> Out("w@GRAD.cast_fp16.cast_fp32") {in_dtype = 4 : i32, out_dtype = 5 : i32, op_role = 2 : i32}
        %u = pd.sgd Grad(%r) …
  }];
  let dependentDialects = ["::dtranspile::dist::DistDialect"];
  let options = [axesOption];
}
#endif
