// What verifiers, passes and specialisation ask about the place of an op in the job: its mesh, its
// communicator, the ranks that run it.
#pragma once

#include "dialects/dist/dist.h"

namespace dtranspile::dist {

// The symbol table that holds meshes, comms and roles, seen from `op`: the job (or a specialised
// module).
mlir::Operation* jobOf(mlir::Operation* op);

// Whether `op` stands in the text of a class, and not in a role that is kept beside it for its
// variables.
bool inClassText(mlir::Operation* op);

// The ranks that the text around `op` is for: of a class its ranks, else every rank.
SelAttr ranksOf(mlir::Operation* op);

// The name of the role that `op` is in, or that its class is of; empty where there is none.
llvm::StringRef roleOf(mlir::Operation* op);

// The mesh of the role that `op` is in; in a specialised module the first one, its role's. Null
// where there is none.
MeshOp meshOf(mlir::Operation* op, mlir::SymbolTableCollection* tables = nullptr);

// Null where the job has no such comm.
CommOp lookupComm(mlir::Operation* from, mlir::FlatSymbolRefAttr name,
                  mlir::SymbolTableCollection* tables = nullptr);
MeshOp meshOfComm(CommOp comm, mlir::SymbolTableCollection* tables = nullptr);

// The communicator that a communication op names; null for other ops.
mlir::FlatSymbolRefAttr commOf(mlir::Operation* op);

// The ranks that run an op: those of the class in whose text it stands, and of all enclosing
// `dist.on`.
struct Guard {
  SelAttr where;  // of bodies, and of else-bodies of guards on one axis
  llvm::SmallVector<mlir::StringAttr>
      partly;  // axes of else-bodies of guards on several axes: no conjunction says it

  // True if every rank that runs the op is in `set`.
  bool within(SelAttr set) const { return set.contains(where); }
};
Guard guardOf(mlir::Operation* op, mlir::SymbolTableCollection* tables = nullptr);

// T of !dist.at<T, …>, other types as they are.
mlir::Type unlocated(mlir::Type type);

// The plain results of a communication op: of a started one the types that its wait yields.
llvm::SmallVector<mlir::Type> completedTypes(mlir::TypeRange results);

// The name of the variable that a value is a version of, looking through the ops of this dialect
// (an all-reduced gradient is still that gradient); empty if none.
llvm::StringRef nameOf(mlir::Value value);

// Whether the op looks at the extents of this operand and at no element: what a dist.remote may be
// used for (D34).
bool readsExtentsOnly(mlir::OpOperand& use);

}  // namespace dtranspile::dist
