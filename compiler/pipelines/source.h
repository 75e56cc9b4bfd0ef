// What a program must not hold to be made a job of.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace dtranspile {

// Every op of the programs of `module` is one that passes may rewrite around. Refused, all of them
// at once and by name: ops without a row (custom ops, py_func, pylayer, run_program), ops that
// communicate (the input is the single-device program), and ops of the main program that read or
// write files or take their input from a reader, since every rank would do so.
mlir::LogicalResult checkSource(mlir::ModuleOp module);

}  // namespace dtranspile
