// Pieces of text that operations with and without regions share.
#pragma once

#include "dialects/dist/dist.h"
#include "mlir/IR/OpImplementation.h"

namespace dtranspile::dist {

// `[dp, mp]`: names of axes, without their extents.
mlir::ParseResult parseNames(mlir::OpAsmParser& parser, mlir::ArrayAttr& names);
void printNames(mlir::OpAsmPrinter& printer, mlir::Operation* op, mlir::ArrayAttr names);

// `<pp = 0>`.
mlir::ParseResult parseSelector(mlir::OpAsmParser& parser, SelAttr& selector);

}  // namespace dtranspile::dist
