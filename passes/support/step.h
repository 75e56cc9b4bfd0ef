// The ops of a step as a pipeline takes them: what runs for every micro-batch, what runs once, and
// what every stage may repeat for itself. Shared by assign-stages and pipeline.
#pragma once

#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "llvm/ADT/DenseSet.h"

namespace dtranspile::passes {

// What tensor-parallel and sharding have put between ops of a program: sums over the axis of layers
// or of shards, cuts, and parts put together.
bool isBetweenLayers(mlir::Operation* op);

// The role of a framework op; between layers that of the first op that takes the result, in front
// of which it stands. pd::kForward for others.
int roleIn(mlir::Operation* op);

// Adds what a step gives to a variable that adds up over steps (gradient-merge): @v = @v + value.
bool addsUpOverSteps(mlir::Operation* op);

// Runs once per step: the update, schedules of the learning rate, and what adds up over steps.
bool runsOnce(mlir::Operation* op);
bool isBackward(mlir::Operation* op);

// The device that a program's author gives an op, "gpu:1"; empty where there is none.
llvm::StringRef deviceOf(mlir::Operation* op);

// How many devices gpu:0, gpu:1 … the forward and backward part of a program name.
int64_t devicesOf(pd::ProgramOp main);

// Values that an op takes, those that its regions capture included; absent ones are left out.
llvm::SmallVector<mlir::Value> operandsOf(mlir::Operation* op);

// Ops that each stage may run by itself in place of receiving what they give: they are pure, draw
// nothing, and are computed from constants and, in the forward part, from feeds.
llvm::DenseSet<mlir::Operation*> repeatableOps(pd::ProgramOp main);

// Feeds, draws, and what is computed from them: not what follows from variables alone.
llvm::DenseSet<mlir::Operation*> opsOfTheBatch(pd::ProgramOp main);

}  // namespace dtranspile::passes
