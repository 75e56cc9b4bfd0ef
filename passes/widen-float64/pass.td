#ifndef DTRANSPILE_PASSES_WIDEN_FLOAT64
#define DTRANSPILE_PASSES_WIDEN_FLOAT64
include "mlir/Pass/PassBase.td"

def WidenFloat64 : Pass<"widen-float64", "::mlir::ModuleOp"> {
  let summary = "float32 becomes float64 throughout";
  let description = [{
    Input: programs, or the programs of a specialised job. Output: the same programs where every
    float32 tensor, SelectedRows or list is one of float64: types of values, variables and
    declarations, and attributes that name a data type (`dtype`, `in_dtype`, `out_dtype`). Other
    types stay, but for the factor of a `scale` outside of the update, and of a sum
    over ranks: where its float32 is that of 1/n, as
    0.333333343 is of 1/3, it becomes 1/n. No errors.

    The result tells rounding from meaning: what two programs that mean the same compute in float64
    differs by some 1e-12, not 1e-5. `run --float64` runs it; files of float32 are widened as they
    are read.

    Example: `widen-float64`
  }];
}
#endif
