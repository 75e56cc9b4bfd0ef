#include "compiler/export/collective/rings.h"

#include <set>

#include "compiler/export/collective/collective.h"

namespace dtranspile {

std::vector<Ring> ringsIn(mlir::ModuleOp module, dist::MeshOp mesh) {
  std::vector<Ring> rings;
  for (auto comm : module.getOps<dist::CommOp>())
    if (comm.getKind() != dist::CommKind::Rpc && comm.groupSize(mesh) > 1)
      rings.push_back({comm, static_cast<int>(rings.size())});
  return rings;
}

// The ranks that differ from this one along the communicator's axes only (within its subset), in
// the order of the mesh: their position is the rank in the ring.
std::vector<int64_t> groupOf(dist::CommOp comm, dist::MeshOp mesh, int64_t rank) {
  // Strides of the mesh; the members differ in the comm's axes only.
  llvm::SmallVector<int64_t> strides(mesh.getSizes().size(), 1);
  for (size_t i = strides.size(); i-- > 1;) strides[i - 1] = strides[i] * mesh.getSizes()[i];
  llvm::SmallVector<int64_t> coordinates = mesh.coordinatesOf(rank);
  std::vector<int64_t> members = {rank};
  for (mlir::StringAttr axis : comm.getAxes().getAsRange<mlir::StringAttr>()) {
    unsigned index = *mesh.indexOf(axis);
    dist::AxisSetAttr part =
        comm.getSubset() ? comm.getSubset()->lookup(axis) : dist::AxisSetAttr();
    std::vector<int64_t> more;
    for (int64_t member : members)
      for (int64_t c = 0; c < mesh.getSizes()[index]; ++c)
        if (!part || part.contains(c))
          more.push_back(member + (c - coordinates[index]) * strides[index]);
    members = std::move(more);
  }
  return members;
}

namespace {

bool isFirst(dist::CommOp comm, dist::MeshOp mesh, int64_t rank) {
  llvm::SmallVector<int64_t> coordinates = mesh.coordinatesOf(rank);
  return llvm::all_of(comm.getAxes().getAsRange<mlir::StringAttr>(),
                      [&](mlir::StringAttr axis) { return coordinates[*mesh.indexOf(axis)] == 0; });
}

}  // namespace

// All groups of all rings, for tools that look at the job from outside: [ring][group][member].
std::vector<std::vector<std::vector<int64_t>>> ringsOf(mlir::ModuleOp module) {
  std::vector<std::vector<std::vector<int64_t>>> rings;
  auto meshes = module.getOps<dist::MeshOp>();
  if (meshes.empty()) return rings;
  dist::MeshOp mesh = *meshes.begin();
  for (const Ring& ring : ringsIn(module, mesh)) {
    std::vector<std::vector<int64_t>>& groups = rings.emplace_back();
    // Every group has one rank that is first along all axes of the communicator.
    for (int64_t rank = 0; rank < mesh.ranks(); ++rank)
      if (isFirst(ring.comm, mesh, rank)) groups.push_back(groupOf(ring.comm, mesh, rank));
  }
  return rings;
}

}  // namespace dtranspile
