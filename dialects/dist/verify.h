// Checks that the two halves of the verifier share; not for other users.
#pragma once

#include "dialects/dist/dist.h"

namespace dtranspile::dist {

// Every axis of the selector is a rank axis of `mesh`, coordinates exist, no set is the whole axis;
// `label` begins the message.
llvm::LogicalResult verifySelector(mlir::Operation* op, SelAttr selector, MeshOp mesh,
                                   llvm::StringRef label);

// D7: programs of the role touch variables with `dist.at` only where these exist.
llvm::LogicalResult verifyLocatedVariables(RoleOp role, mlir::SymbolTableCollection& tables);

}  // namespace dtranspile::dist
