// Directives of syntax.cc that region_syntax.cc uses as well.
#pragma once

#include "dialects/dist/dist.h"
#include "mlir/IR/OpImplementation.h"

namespace dtranspile::dist {

// `[dp, mp]`: an array of strings.
mlir::ParseResult parseNames(mlir::OpAsmParser& parser, mlir::ArrayAttr& names);
void printNames(mlir::OpAsmPrinter& printer, mlir::Operation* op, mlir::ArrayAttr names);

// `<pp = 0>`, without the `#dist.sel` of an attribute that stands alone.
mlir::ParseResult parseSelector(mlir::OpAsmParser& parser, SelAttr& selector);

}  // namespace dtranspile::dist
