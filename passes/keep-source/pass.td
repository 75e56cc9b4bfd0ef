#ifndef DTRANSPILE_PASSES_KEEP_SOURCE
#define DTRANSPILE_PASSES_KEEP_SOURCE
include "mlir/Pass/PassBase.td"

def KeepSource : Pass<"keep-source", "::mlir::ModuleOp"> {
  let summary = "keeps the saved program before passes change what it computes";
  let description = [{
    Copies variables and programs into nested module `@source`. What passes after it make of the
    others is the program that the job shall preserve: form-job keeps it as `@reference`.

    Example: `keep-source`

        pd.var @w … pd.program @main { … }
        --->
        module @source { pd.var @w … pd.program @main { … } }
        pd.var @w … pd.program @main { … }
  }];
}
#endif
