// The lowering of ops of dialect dist: a function per op, named in one table. Called by
// program_lowering.cc for ops in the text of a class (docs/dialects/dist.md, Specialisation).
#pragma once

#include <optional>

#include "compiler/lower/lowering.h"
#include "dialects/dist/dist.h"

namespace dtranspile::lower {

using LowerDist = llvm::LogicalResult (*)(Lowering&, mlir::Operation*);

// Null for ops that have no lowering.
LowerDist distLowering(mlir::Operation* op);

// collective_lowering.cc
llvm::LogicalResult lowerCollective(Lowering& lowering, mlir::Operation* op);
llvm::LogicalResult lowerWait(Lowering& lowering, mlir::Operation* op);
llvm::LogicalResult lowerSend(Lowering& lowering, mlir::Operation* op);
llvm::LogicalResult lowerRecv(Lowering& lowering, mlir::Operation* op);
// guard_lowering.cc
llvm::LogicalResult lowerGuard(Lowering& lowering, mlir::Operation* op);
// local_lowering.cc
llvm::LogicalResult lowerCoord(Lowering& lowering, mlir::Operation* op);
llvm::LogicalResult lowerSlice(Lowering& lowering, mlir::Operation* op);
llvm::LogicalResult lowerCopy(Lowering& lowering, mlir::Operation* op);

// micro_lowering.cc
llvm::LogicalResult lowerMicro(Lowering& lowering, mlir::Operation* op);
// The extents that a program is fed, of which its type says those of a micro-batch.
void joinMicroBatches(pd::InputOp input, pd::TensorInfo& info);
// Binds what a program is fed: `feed` itself, or the part of the micro-batch.
llvm::LogicalResult cutFeed(Lowering& lowering, pd::InputOp input, int feed, pd::TensorInfo info);

// request_lowering.cc
llvm::LogicalResult lowerPush(Lowering& lowering, mlir::Operation* op);
llvm::LogicalResult lowerPull(Lowering& lowering, mlir::Operation* op);
llvm::LogicalResult lowerLookup(Lowering& lowering, mlir::Operation* op);
llvm::LogicalResult lowerRemote(Lowering& lowering, mlir::Operation* op);
llvm::LogicalResult lowerPhase(Lowering& lowering, mlir::Operation* op);

// server_lowering.cc
llvm::LogicalResult lowerForeachBlock(Lowering& lowering, mlir::Operation* op);
llvm::LogicalResult lowerMerged(Lowering& lowering, mlir::Operation* op);

// layouts.cc: attributes of the dialect in the words of plans.
exec::Selector selectorOf(dist::SelAttr where);
// The layout of a variable that is cut; nothing for others. A diagnostic at `op` where it is cut in
// a way that plans do not have.
llvm::FailureOr<std::optional<exec::Layout>> layoutOf(mlir::Operation* op, pd::VarOp variable,
                                                      dist::MeshOp mesh);
// Extent `dim` of a whole tensor cut over axes.
exec::Layout layoutOf(dist::LayoutAttr layout, int64_t dim, llvm::ArrayRef<std::string> axes,
                      llvm::ArrayRef<int64_t> whole);
// How many coordinates the axes have together.
int64_t coordinatesOf(dist::MeshOp mesh, llvm::ArrayRef<std::string> axes);

// The number of a communicator in the plan, and its mesh; diagnostics where it is not there.
struct CommOfPlan {
  dist::CommOp op;
  dist::MeshOp mesh;
  int number = 0;
};
llvm::FailureOr<CommOfPlan> commOfPlan(Lowering& lowering, mlir::Operation* op);

// The communicators of a specialised module, in the order of their creation.
void addCommunicators(mlir::Operation* table, Plan& plan);

}  // namespace dtranspile::lower
