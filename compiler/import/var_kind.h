// The kind and type of a variable. Called by import.cc.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace dtranspile {

// What a VarType says, as pd.decl keeps it.
struct VarKind {
  mlir::Type type;
  mlir::IntegerAttr kind, dtype, lod;
  mlir::DenseI64ArrayAttr dims;
  bool more = false;  // pd.decl has no field for some of it
};

// From the bytes of a VarType, which the reader of the wire format has checked.
VarKind makeVarKind(mlir::Builder& builder, llvm::StringRef bytes);

}  // namespace dtranspile
