// The MLIR part of kernel code generation, and the dialects that it speaks. Used by
// kernel_compiler.h.
#pragma once

#include <memory>

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"

namespace dtranspile::lower {

mlir::DialectRegistry kernelDialects();

// From func/scf/memref/arith/math to the LLVM dialect.
std::unique_ptr<mlir::PassManager> kernelPipeline(mlir::MLIRContext& context);

}  // namespace dtranspile::lower
