#ifndef DTRANSPILE_PASSES_CHECK_SOURCE
#define DTRANSPILE_PASSES_CHECK_SOURCE
include "mlir/Pass/PassBase.td"

def CheckSource : Pass<"check-source", "::mlir::ModuleOp"> {
  let summary = "refuses programs that no job can be made of";
  let description = [{
    Changes nothing. Errors, all of them at once and by name: ops without a row (custom ops, py_func,
    pylayer, run_program), ops that communicate (the input is the single-device program), and ops of
    @main that read or write files or take their input from a reader, since every rank would do so.

    Example: `check-source`
  }];
}
#endif
