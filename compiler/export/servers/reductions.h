// Communication in groups inside of parameter-server jobs: internal to this folder.
#pragma once

#include "dialects/dist/dist.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtranspile {

// Replaces operations in groups of one rank by their operands. Those of several are errors: the
// framework's servers do not talk to each other, and its trainers talk to servers only. `who` is
// "servers" or "trainers". Draws of start-up that one rank hands to the others get a seed instead,
// equal on all of them.
mlir::LogicalResult resolveGroups(mlir::ModuleOp module, dist::MeshOp mesh, llvm::StringRef who);

}  // namespace dtranspile
