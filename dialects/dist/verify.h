// Checks that the parts of the verifier share; not for other users.
#pragma once

#include <optional>

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

// D21, D22, D24: of an operation that communicates; `reduce` where it combines, `rows` where it
// takes SelectedRows.
llvm::LogicalResult verifyCollective(mlir::Operation* op, std::optional<Reduce> reduce,
                                     bool rows = false);

// D24: same number of operands and (completed) results, and `relate` holds for each pair.
llvm::LogicalResult verifyPairs(
    mlir::Operation* op, llvm::function_ref<llvm::LogicalResult(mlir::Type, mlir::Type)> relate);
llvm::LogicalResult verifySameTypes(mlir::Operation* op);

// D23: `root` names one coordinate of each axis of the comm, nothing else, and a member.
llvm::LogicalResult verifyRoot(mlir::Operation* op, SelAttr root, CommOp comm, MeshOp mesh);

// D25: along `dim`, `part` has ⌈n/size⌉ of the n of `whole`; kFlat: `part` is one-dimensional.
llvm::LogicalResult verifyPart(mlir::Operation* op, mlir::Type whole, mlir::Type part, int64_t dim,
                               int64_t size);

// The comm of a group operation (verifyComm) and its mesh, of which `more` is asked, where given.
llvm::LogicalResult verifyAgainstComm(
    mlir::Operation* op, mlir::SymbolTableCollection& tables,
    llvm::function_ref<llvm::LogicalResult(CommOp, MeshOp)> more = nullptr);

}  // namespace dtranspile::dist
