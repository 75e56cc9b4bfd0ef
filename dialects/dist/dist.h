// Dialect dist: meshes, communication, rank-conditional regions, roles and relations; generated
// from base.td and ops.td. The one header that users of the dialect include; lookup.h has what
// passes ask about symbols and guards.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace dtranspile::dist {

// What starts write and waits read, with the communicator's symbol as parameter; what copies
// between memories write.
struct CommResource : mlir::SideEffects::Resource::Base<CommResource> {
  llvm::StringRef getName() final { return "dist.comm"; }
};
struct CopyResource : mlir::SideEffects::Resource::Base<CopyResource> {
  llvm::StringRef getName() final { return "dist.copy"; }
};

// The dim that stands for the flattened tensor, written `flat`.
inline constexpr int64_t kFlat = -1;

// Discardable attributes of this dialect (docs/dialects/dist.md): names and where they may stand.
inline constexpr llvm::StringLiteral kSrcAttr = "dist.src";
inline constexpr llvm::StringLiteral kRelAttr = "dist.rel";
inline constexpr llvm::StringLiteral kBatchAttr = "dist.batch";
inline constexpr llvm::StringLiteral kAtAttr = "dist.at";
inline constexpr llvm::StringLiteral kStreamsAttr = "dist.streams";
inline constexpr llvm::StringLiteral kStageAttr = "dist.stage";
inline constexpr llvm::StringLiteral kPerMicroAttr = "dist.per_micro";
inline constexpr llvm::StringLiteral kContractsAttr = "dist.contracts";
inline constexpr llvm::StringLiteral kChangesAttr = "dist.changes";
// Of the text of a class (a specialised module): the name of the class, its role, and its ranks
// where these are not all of the role.
inline constexpr llvm::StringLiteral kClassAttr = "dist.class";
inline constexpr llvm::StringLiteral kRoleAttr = "dist.role";
inline constexpr llvm::StringLiteral kRanksAttr = "dist.ranks";

}  // namespace dtranspile::dist

#include "dialects/dist/dist_dialect.h.inc"
#include "dialects/dist/dist_enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/dist/dist_attrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/dist/dist_types.h.inc"

#define GET_OP_CLASSES
#include "dialects/dist/dist_ops.h.inc"
