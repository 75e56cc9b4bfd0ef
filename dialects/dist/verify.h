// Checks that the parts of the verifier share; not for other users.
#pragma once

#include "dialects/dist/dist.h"

namespace dtranspile::dist {

// Every axis of the selector is a rank axis of `mesh`, coordinates exist, no set is the whole axis;
// `label` begins the message.
llvm::LogicalResult verifySelector(mlir::Operation* op, SelAttr selector, MeshOp mesh,
                                   llvm::StringRef label);

// D7: programs of the role touch variables with `dist.at` only where these exist.
llvm::LogicalResult verifyLocatedVariables(RoleOp role, mlir::SymbolTableCollection& tables);

// D8, D10, D19, D20, D23: the comm of an operation, which is of that kind and may be used there.
mlir::FailureOr<CommOp> verifyComm(mlir::Operation* op, CommKind kind,
                                   mlir::SymbolTableCollection& tables);

// D21, D22: pending values are waited for once, where they started, and are never operands of
// anything else.
llvm::LogicalResult verifyPending(mlir::Operation* op);

}  // namespace dtranspile::dist
