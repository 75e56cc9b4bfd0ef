// MLIR text and byte code of unknown origin. MLIR's readers trust their input: damaged byte code
// can end the process, loop or take all memory, and so can text nested very deeply. So a file is
// read in a child process first, and in this one only when that went well.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace dtranspile {

// The module of `bytes`; null after a diagnostic at `path`. `context` has no threads
// (MLIRContext::Threading::DISABLED). The child has as much memory as this process and 1 GiB + 256
// bytes per byte of input on top, and 10 s of processor time + 1 s per 4 MiB.
mlir::OwningOpRef<mlir::ModuleOp> parseGuarded(mlir::MLIRContext* context, llvm::StringRef bytes,
                                               llvm::StringRef path);

}  // namespace dtranspile
