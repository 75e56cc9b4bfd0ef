// What belongs to the update of a program whose roles are settled (settle-roles), and which
// parameters it updates, be it by ops of the framework or by arithmetic. Used by amp,
// gradient-merge, lookahead, settle-roles and those of servers.
#pragma once

#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "llvm/ADT/StringMap.h"

namespace dtranspile::passes {

// A framework op with the role Optimize or of a schedule.
bool isOfUpdate(mlir::Operation* op);

// Pure, without operands and blocks: can be made again anywhere.
bool isConstantOp(mlir::Operation* op);

// Whether blocks of the op take nothing from outside but what it captures: it can be moved.
bool takesCapturesOnly(mlir::Operation* op);

// The values that are gradients of parameters: what the last op with role Backward gives that lists
// the pair. By parameter.
llvm::StringMap<mlir::Value> completeGradients(pd::ProgramOp main);

// Calls `visit` for every parameter that is updated by an op with the slots Param, Grad and
// ParamOut, and then for every other one that has a complete gradient and is set by the update: the
// op is the one of the program that sets it.
void forEachUpdated(pd::ProgramOp main,
                    llvm::function_ref<void(mlir::Operation*, llvm::StringRef parameter)> visit);

}  // namespace dtranspile::passes
