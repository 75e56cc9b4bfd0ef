// What a server does for one parameter, block by block: ops of the update part inside of a
// dist.foreach_block. Used for the round (round.cc) and for handlers of pushes (single.cc).
#pragma once

#include <vector>

#include "mlir/IR/IRMapping.h"
#include "passes/support/servers.h"

namespace dtranspile::passes {

// The ops of the parameter that some values are made of, in the order of the program.
std::vector<mlir::Operation*> neededFor(const UpdatePart& part, int owner,
                                        llvm::SmallVector<mlir::Value> values);

// A gradient, or a variable, of the block that the loop has come to.
mlir::Value valueInside(const UpdatePart& part, int owner, mlir::Value value,
                        mlir::OpBuilder& inside);

// A copy of an op of the parameter, whose results are those of a block.
void cloneForBlock(const UpdatePart& part, int owner, mlir::Operation* op, mlir::OpBuilder& inside,
                   mlir::IRMapping& map);

// The declarations that the update part needs, from the trainers' program to the servers'.
void copyUsedDeclarations(const UpdatePart& part, pd::ProgramOp from, pd::ProgramOp to);

}  // namespace dtranspile::passes
