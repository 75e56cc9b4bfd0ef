// Sends and receives in the framework's operators. Not for users outside of this folder.
#pragma once

#include <string>

#include "compiler/export/collective/rings.h"
#include "dialects/pd/declarations.h"
#include "dialects/pd/op_view.h"

namespace dtranspile {

class PointToPoint {
 public:
  PointToPoint(dist::MeshOp mesh, int64_t rank, llvm::ArrayRef<Ring> rings)
      : mesh_(mesh), rank_(rank), rings_(rings) {}

  // A diagnostic where a dist.send or dist.recv has no translation: of values that are no dense
  // tensors. What follows takes checked ops.
  mlir::LogicalResult check(mlir::Operation* op) const;

  // -1: of no ring.
  int ringOf(mlir::Operation* op) const;

  // `send_v2` on the stream of computation, or, `aside`, on that of communication after a
  // `c_sync_calc_stream`; the value as it stands in the program then.
  mlir::Value send(mlir::OpBuilder& builder, pd::Declarations& declarations, dist::SendOp op,
                   int role, bool aside = false) const;
  // `recv_v2`. Extents that are not known come with the value (`dynamic_shape`, at both ends).
  mlir::Value receive(mlir::OpBuilder& builder, pd::Declarations& declarations, dist::RecvOp op,
                      int role) const;

 private:
  // The place in the ring of the rank with this coordinate on the comm's one axis.
  int64_t peer(mlir::Operation* op, int64_t coordinate) const;

  dist::MeshOp mesh_;
  int64_t rank_;
  llvm::ArrayRef<Ring> rings_;
};

}  // namespace dtranspile
