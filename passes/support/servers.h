// Finding and making what a job with parameter servers has: the role that serves, its mesh and
// communicators.
#pragma once

#include "passes/support/update_part.h"

namespace dtranspile::passes {

// The role of the servers, as the framework's launch variables call it.
inline constexpr llvm::StringLiteral kServerRole = "pserver";
inline constexpr llvm::StringLiteral kRounds = "rounds";               // trainers and servers
inline constexpr llvm::StringLiteral kServerSums = "sums of servers";  // servers among themselves
inline constexpr llvm::StringLiteral kServerAxis = "ps";
// On a pd.var of trainers: the parameter of which it is what servers had last (a symbol). From
// ps-exchange to ps-startup, which takes it away.
inline constexpr llvm::StringLiteral kSnapshotOf = "snapshot_of";

// How dim 0 of a parameter is cut.
struct Cut {
  int64_t extent = 0, per = 0;
  int64_t blocks() const { return (extent + per - 1) / per; }
};
// At most `slices` blocks of at least `least` elements, of whole rows. Of a tensor with elements.
Cut cutOf(mlir::RankedTensorType type, int64_t slices, int64_t least);

// The parts of a job that ps-split has made.
struct ServedJob {
  JobOnAxes trainers;
  dist::RoleOp role;  // the servers'
  dist::MeshOp mesh;
  pd::ProgramOp main, startup;  // of the servers; start-up is null until ps-startup
  dist::CommOp rounds;
};

// Reports and fails where the module is no such job.
mlir::FailureOr<ServedJob> servedJob(mlir::ModuleOp module, llvm::ArrayRef<std::string> axes);

// Makes the mesh of the servers, `[ps = servers]`, and the communicator that trainers reach them
// by.
dist::CommOp addServers(const JobOnAxes& job, int64_t servers);

// How gradients wait on a trainer (docs/parameter-server.md, Queues), by the names and defaults of
// a request; what differs from these is said of the communicator (D38).
struct Queues {
  int64_t maxMergeVarNum = 1, sendQueueSize = 16, sendWaitTimes = 1, threadPoolSize = 1;
  int64_t minSendGradNumBeforeRecv = 1;
  bool independentRecvThread = false, isSgdOptimizer = true;
};
void setQueues(dist::CommOp comm, const Queues& queues);

// The communicator among the servers; made where the job has none yet.
mlir::FlatSymbolRefAttr serverComm(mlir::ModuleOp job, dist::MeshOp mesh);

// The type of a block, or of all blocks of a rank, of a variable: dim 0 is `?`.
mlir::Type blockType(mlir::Type type);

// #dist.rel<"w", ps: S(0, layout)>
dist::RelAttr blocksOf(mlir::StringAttr variable, dist::LayoutAttr layout);

// A variable of the servers' role; of a null layout every server has the whole.
pd::VarOp addServerVariable(mlir::OpBuilder& builder, pd::VarOp like, dist::LayoutAttr layout);

// How a server variable is cut; null where every server has all of it.
dist::LayoutAttr layoutOf(pd::VarOp variable);

// Copies declarations of `names` from one program to another, in their order.
void copyDeclarations(pd::ProgramOp from, pd::ProgramOp to,
                      llvm::function_ref<bool(llvm::StringRef)> wanted);

}  // namespace dtranspile::passes
