// Rings of a module: which communicator has which id, and who is in the group of a rank. Not for
// users outside of this folder.
#pragma once

#include <vector>

#include "dialects/dist/dist.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtranspile {

struct Ring {
  dist::CommOp comm;
  int id = 0;
};

// Comms of more than one rank, groups and pairs, in order of creation. The members of a `pairs`
// comm share one ring, in which a peer is named by its place.
std::vector<Ring> ringsIn(mlir::ModuleOp module, dist::MeshOp mesh);

// Ranks of the group that `rank` is in, in ring order.
std::vector<int64_t> groupOf(dist::CommOp comm, dist::MeshOp mesh, int64_t rank);

}  // namespace dtranspile
