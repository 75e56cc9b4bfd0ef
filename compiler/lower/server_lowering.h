// Variables that are cut into blocks: what the programs of a server do with them.
#pragma once

#include "compiler/lower/lowering.h"
#include "dialects/dist/dist.h"

namespace dtranspile::lower {

// Where a variable is read or set by `op`: itself, or, inside of a loop over blocks, the block that
// the loop has come to. A diagnostic where it is cut otherwise, or into blocks outside of a loop.
llvm::FailureOr<int> placeInVariable(Lowering& lowering, mlir::Operation* op,
                                     const Persistable& variable);

// What the trainer whose push is applied has pulled of a variable last.
llvm::LogicalResult lowerPulled(Lowering& lowering, pd::GetOp op);

// The name of the program that a handler becomes, and when it runs. A diagnostic where handlers of
// its kind are not run yet.
llvm::FailureOr<PlanProgram> programOf(dist::HandleOp handler);

// local_lowering.cc: a part by a layout of unequal parts, and the variable that is set to it.
bool isUneven(dist::SliceOp slice);
bool isCutLike(Lowering& lowering, dist::SliceOp slice, const Persistable& variable);
llvm::LogicalResult setToPart(Lowering& lowering, dist::SliceOp slice, const Persistable& variable);

}  // namespace dtranspile::lower
