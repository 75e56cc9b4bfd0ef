// What one class of ranks sees of a program: internal to this folder.
#pragma once

#include "compiler/specialize/specialize.h"
#include "dialects/pd/pd.h"
#include "llvm/ADT/DenseMap.h"

namespace dtranspile {

// Resolves in place every guard that holds on all ranks of the class or on none. What is left of
// guards are those that hold on some of them, and tasks of this class. A value that all ranks of
// the class hold has a plain type, one that none holds is gone; sends and receives stand for
// transfers. Diagnostics where a dist.micro cannot be cut into its tasks.
mlir::LogicalResult resolveGuards(pd::ProgramOp program, const RankClass& rankClass,
                                  const SpecializeOptions& options);

// By dist.recv of a dist.micro the task of the class with which its value comes in, where no task
// asks for it before (compiler/analysis/tasks.h).
using Arrivals = llvm::DenseMap<mlir::Operation*, dist::OnOp>;

// Brings a dist.micro of a class whose guards are resolved into the form in which its body holds
// one dist.on per task and chunk, and nothing else: receives at the head of the task that first
// reads what they give, sends at the end of the one that makes it, all else where its operands come
// from. What is passed on to another stage comes in and leaves with its arrival.
mlir::LogicalResult gatherTasks(dist::MicroOp micro, const Arrivals& arrivals);

// Gradient ops of tasks give what is read of them: of one that stands in task B and in task W each
// has the results that the other leaves out.
void dropUnreadResults(dist::MicroOp micro);

}  // namespace dtranspile
