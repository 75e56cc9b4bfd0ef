// Operations with a root. Not for users outside of this folder.
#pragma once

#include <optional>

#include "compiler/export/collective/emitter.h"

namespace dtranspile {

// One operation per value; on ranks that are not the root nobody reads the result of a reduction.
class Rooted {
 public:
  explicit Rooted(Emitter& emitter) : emitter_(emitter) {}

  mlir::LogicalResult reduce(dist::ReduceOp op, int ring);
  mlir::LogicalResult broadcast(dist::BroadcastOp op, int ring);
  // What is started runs on the stream of communication, behind what was computed, and is waited
  // for where its wait stands.
  bool isStarted(dist::WaitOp wait) const { return started_.contains(wait); }
  mlir::LogicalResult finish(dist::WaitOp wait);

 private:
  struct Started {
    llvm::SmallVector<mlir::Value> results;
    int ring = 0, role = 0;
  };
  std::optional<int64_t> rootOf(mlir::Operation* op, dist::SelAttr root);
  mlir::Value allocated(mlir::Value value);
  void start(mlir::Operation* op, llvm::StringRef type, Emitter::Attributes attributes,
             llvm::SmallVector<mlir::Value> values, Started started, bool keeps);

  Emitter& emitter_;
  llvm::DenseMap<mlir::Operation*, Started> started_;  // by the wait
};

}  // namespace dtranspile
