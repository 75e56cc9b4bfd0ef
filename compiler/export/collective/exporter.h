// The exporter's parts, one file each: exporter.cc (rings, what kind of op goes where), sums.cc
// (reductions to all ranks, buckets, levels), rank_data.cc (roots, coordinates, parts). Not for
// users outside of this folder.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compiler/export/collective/pipeline.h"
#include "compiler/export/collective/point_to_point.h"
#include "compiler/export/collective/rings.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/declarations.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "dialects/pd/types.h"

namespace dtranspile {

// Rewrites the programs of one rank's module in place.
class Exporter {
 public:
  Exporter(mlir::ModuleOp module, dist::MeshOp mesh, int64_t rank,
           llvm::ArrayRef<std::string> endpoints)
      : builder_(module.getContext()),
        mesh_(mesh),
        rank_(rank),
        endpoints_(endpoints),
        rings_(ringsIn(module, mesh)),
        wires_(mesh, rank, rings_) {}

  // Communication stands in block 0, and in the blocks of control flow whose predicate is equal on
  // all ranks.
  mlir::LogicalResult run(pd::ProgramOp program, bool setUp) {
    if (setUp) makeRings(*program.getBodyBlock());
    if (mlir::failed(layOutStage(program, mesh_, rank_, rings_))) return mlir::failure();
    llvm::SmallVector<mlir::Block*> blocks;
    program.walk([&](mlir::Block* block) {
      if (!llvm::isa<dist::DistDialect>(block->getParentOp()->getDialect()))
        blocks.push_back(block);
    });
    for (mlir::Block* block : blocks)
      if (mlir::failed(translate(*block))) return mlir::failure();
    return mlir::success();
  }

 private:
  using Attributes = std::vector<mlir::NamedAttribute>;
  struct Started {
    llvm::SmallVector<mlir::Value> results;  // empty: nothing moves
    mlir::Value buffer;
    int ring = 0, role = 0;
  };

  mlir::IntegerAttr number(int64_t value) {
    return builder_.getI32IntegerAttr(static_cast<int32_t>(value));
  }
  mlir::NamedAttribute named(llvm::StringRef name, mlir::Attribute value) {
    return builder_.getNamedAttr(name, value);
  }

  void makeRings(mlir::Block& block);
  void makeRing(mlir::Block& block, const Ring& ring);
  mlir::LogicalResult translate(mlir::Block& block);
  mlir::LogicalResult translate(mlir::Operation* op);
  int ringId(mlir::Operation* op);
  mlir::LogicalResult identity(mlir::Operation* op);
  // Erased at the end of its turn; a start's wait comes later in the block and is erased then.
  mlir::LogicalResult drop(mlir::Operation* op);
  // The role of an inserted op: that of the op that made the value, without the Loss bit.
  static int roleOf(mlir::Value value);
  // One value in, the same name out; but a variable keeps what it holds: what is made of it and
  // does not go back to it gets a name of its own.
  mlir::Value inPlace(mlir::Location loc, llvm::StringRef type, mlir::Value value,
                      const Attributes& attributes, int role, bool keeps = false);
  // Rank data are literals in the program of one rank.
  mlir::LogicalResult exportCoord(dist::CoordOp op);
  mlir::LogicalResult exportSlice(dist::SliceOp op);
  // Rank of the root in the ring: its coordinates on the comm's axes, the last one fastest. Nothing
  // after a message.
  std::optional<int64_t> rootOf(mlir::Operation* op, dist::CommOp comm, dist::SelAttr root);
  // What a rank that does not hold the value gives to a broadcast: memory of the right size.
  mlir::Value allocated(mlir::Value value);
  // One operation per value; on ranks that are not the root nobody reads the result.
  mlir::LogicalResult exportReduce(dist::ReduceOp op);
  mlir::LogicalResult allReduce(dist::AllReduceOp op);
  // The framework's c_allreduce_sum takes dense tensors. A sum of SelectedRows is all rows with all
  // values, and those are the ids and the gradient that the embedding's gradient op reads: these
  // are gathered over the ring, and the op makes the sum of them.
  mlir::LogicalResult sumOfRows(dist::AllReduceOp op);
  mlir::LogicalResult gatherBehind(mlir::Operation* sum, mlir::Value value);
  // Along dim 0, in rank order.
  mlir::Value gathered(mlir::Location loc, mlir::Value value);
  // The reduction of an op's operands on the current ring, in one buffer when there are several.
  Started startSum(mlir::Operation* op, dist::Reduce reduce, bool waits);
  // The one op that takes all results of `op`; null where there are several.
  static mlir::Operation* onlyUser(mlir::Operation* op);
  // A sum in levels (started reduce_scatter, all_reduce, all_gather, with their waits) is written
  // as one sum over the ring of all its ranks: the framework has its own hierarchy below the
  // operator. It starts where the first level does and is waited for where the last one is.
  mlir::LogicalResult foldLevels(dist::ReduceScatterOp scatter);
  // The ring over the axes of both comms; of several, the one that stands where `within` stands
  // among those of its own axes.
  int ringOver(mlir::FlatSymbolRefAttr within, mlir::FlatSymbolRefAttr between);
  // Copies the values into one buffer that they are parts of from then on.
  mlir::Value coalesce(mlir::Operation* op, llvm::SmallVectorImpl<mlir::Value>& values, int role);
  mlir::LogicalResult finish(dist::WaitOp wait);
  mlir::LogicalResult exportSend(dist::SendOp op);
  mlir::LogicalResult exportRecv(dist::RecvOp op);
  mlir::LogicalResult exportBroadcast(dist::BroadcastOp op);
  mlir::LogicalResult frameworkOp(dist::CompositeOp op);

  mlir::OpBuilder builder_;
  pd::Declarations declarations_;
  dist::MeshOp mesh_;
  int64_t rank_;
  llvm::ArrayRef<std::string> endpoints_;
  std::vector<Ring> rings_;
  PointToPoint wires_;
  llvm::DenseMap<mlir::Operation*, Started> started_;  // by the wait
  llvm::DenseSet<mlir::Operation*> folded_;  // levels of sums that have been written already
  int ring_ = 0;
};

}  // namespace dtranspile
