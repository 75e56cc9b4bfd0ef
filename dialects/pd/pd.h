// Dialect pd: structural ops, types and attributes generated from pd.td. The one header that users
// of the dialect include, with op_view.h for framework ops.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace dtranspile::pd {
class DeclOp;
namespace detail {
struct SlotAttrStorage;
}  // namespace detail

// The memory that effects of persistables are on (with the symbol as parameter), and that of the
// random-number generator.
struct VariableResource : mlir::SideEffects::Resource::Base<VariableResource> {
  llvm::StringRef getName() final { return "pd.variable"; }
};
struct RandomResource : mlir::SideEffects::Resource::Base<RandomResource> {
  llvm::StringRef getName() final { return "pd.random"; }
};
struct HostResource : mlir::SideEffects::Resource::Base<HostResource> {
  llvm::StringRef getName() final { return "pd.host"; }
};

// An argument that stands for "no variable here".
inline constexpr llvm::StringLiteral kEmptyArgument = "@EMPTY@";
}  // namespace dtranspile::pd

#include "dialects/pd/pd_dialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/pd/pd_types.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/pd/pd_attrs.h.inc"

#define GET_OP_CLASSES
#include "dialects/pd/pd_ops.h.inc"
