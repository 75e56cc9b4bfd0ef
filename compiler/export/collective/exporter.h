// The programs of one rank's module, rewritten in place: communication becomes operators of the
// framework. The parts: operators that set rings up (ring_setup.h), reductions to all ranks
// (sums.h), operations with a root (rooted.h), sends and receives (point_to_point.h), rank data
// (rank_data.h). Not for users outside of this folder.
#pragma once

#include <string>
#include <vector>

#include "compiler/export/collective/emitter.h"
#include "compiler/export/collective/point_to_point.h"
#include "compiler/export/collective/rings.h"
#include "compiler/export/collective/rooted.h"
#include "compiler/export/collective/sums.h"

namespace dtranspile {

class Exporter {
 public:
  Exporter(mlir::ModuleOp module, dist::MeshOp mesh, int64_t rank,
           llvm::ArrayRef<std::string> endpoints)
      : endpoints_(endpoints),
        rings_(ringsIn(module, mesh)),
        emitter_(module.getContext(), mesh, rank, rings_),
        wires_(mesh, rank, rings_),
        sums_(emitter_),
        rooted_(emitter_) {}

  // `setUp`: the program also makes the rings. Communication stands in block 0, and in the blocks
  // of control flow whose predicate is equal on all ranks.
  mlir::LogicalResult run(pd::ProgramOp program, bool setUp);

 private:
  mlir::LogicalResult translate(mlir::Operation* op);
  mlir::LogicalResult communicate(mlir::Operation* op);
  mlir::LogicalResult writeBody(dist::CompositeOp composite);

  llvm::ArrayRef<std::string> endpoints_;
  const std::vector<Ring> rings_;
  Emitter emitter_;
  PointToPoint wires_;
  Sums sums_;
  Rooted rooted_;
};

}  // namespace dtranspile
