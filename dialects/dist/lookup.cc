#include "dialects/dist/lookup.h"

#include "dialects/pd/op_view.h"

namespace dtranspile::dist {
namespace {

mlir::Operation* lookup(mlir::Operation* table, mlir::StringAttr name,
                        mlir::SymbolTableCollection* tables) {
  if (!table || !table->hasTrait<mlir::OpTrait::SymbolTable>()) return nullptr;
  return tables ? tables->lookupSymbolIn(table, name)
                : mlir::SymbolTable::lookupSymbolIn(table, name);
}

// Ranks outside of `where`, which is a set on one axis of `mesh`; null if none is outside.
SelAttr complement(SelAttr where, MeshOp mesh) {
  AxisSetAttr set = where.getSets().front();
  std::optional<int64_t> size = mesh ? mesh.sizeOf(set.getAxis()) : std::nullopt;
  llvm::SmallVector<std::pair<int64_t, int64_t>> gaps;
  int64_t from = 0;
  for (size_t i = 0; i < set.getBounds().size(); i += 2) {
    gaps.push_back({from, set.getBounds()[i]});
    from = set.getBounds()[i + 1];
  }
  gaps.push_back({from, size.value_or(INT64_MAX)});
  AxisSetAttr rest = AxisSetAttr::of(set.getAxis(), gaps);
  return !rest ? SelAttr() : SelAttr::of(where.getContext(), rest);
}

}  // namespace

mlir::Operation* jobOf(mlir::Operation* op) {
  if (auto role = llvm::dyn_cast<RoleOp>(op)) return role->getParentOp();
  if (auto role = op->getParentOfType<RoleOp>()) return role->getParentOp();
  mlir::Operation* parent = op->getParentOp();
  return parent ? mlir::SymbolTable::getNearestSymbolTable(parent) : op;
}

MeshOp meshOf(mlir::Operation* op, mlir::SymbolTableCollection* tables) {
  auto role = llvm::dyn_cast<RoleOp>(op);
  if (!role) role = op->getParentOfType<RoleOp>();
  mlir::Operation* job = jobOf(op);
  if (role)
    return llvm::dyn_cast_or_null<MeshOp>(lookup(job, role.getMeshAttr().getAttr(), tables));
  if (!job || job->getNumRegions() == 0 || job->getRegion(0).empty()) return {};
  auto meshes = job->getRegion(0).getOps<MeshOp>();
  return meshes.empty() || std::next(meshes.begin()) != meshes.end() ? MeshOp() : *meshes.begin();
}

CommOp lookupComm(mlir::Operation* from, mlir::FlatSymbolRefAttr name,
                  mlir::SymbolTableCollection* tables) {
  return llvm::dyn_cast_or_null<CommOp>(lookup(jobOf(from), name.getAttr(), tables));
}

MeshOp meshOfComm(CommOp comm, mlir::SymbolTableCollection* tables) {
  return llvm::dyn_cast_or_null<MeshOp>(
      lookup(comm->getParentOp(), comm.getMeshAttr().getAttr(), tables));
}

mlir::FlatSymbolRefAttr commOf(mlir::Operation* op) {
  if (!llvm::isa_and_nonnull<DistDialect>(op->getDialect())) return {};
  return op->getAttrOfType<mlir::FlatSymbolRefAttr>("comm");
}

Guard guardOf(mlir::Operation* op, mlir::SymbolTableCollection* tables) {
  Guard guard{SelAttr::of(op->getContext(), {}), {}};
  for (mlir::Region* region = op->getParentRegion(); region; region = region->getParentRegion()) {
    auto on = llvm::dyn_cast<OnOp>(region->getParentOp());
    if (!on) continue;
    SelAttr where = on.getWhere();
    if (region == &on.getOtherwise()) {
      if (where.getSets().size() != 1) {
        for (AxisSetAttr set : where.getSets()) guard.partly.push_back(set.getAxis());
        continue;
      }
      where = complement(where, meshOf(on, tables));
    }
    // An empty conjunction is an error of the `dist.on` itself (D9).
    if (SelAttr both = where ? guard.where.intersect(where) : SelAttr()) guard.where = both;
  }
  return guard;
}

mlir::Type unlocated(mlir::Type type) {
  auto at = llvm::dyn_cast<AtType>(type);
  return at ? at.getType() : type;
}

llvm::SmallVector<mlir::Type> completedTypes(mlir::TypeRange results) {
  if (results.size() == 1)
    if (auto pending = llvm::dyn_cast<PendingType>(results.front()))
      return llvm::to_vector(pending.getTypes());
  return llvm::to_vector(results);
}

llvm::StringRef nameOf(mlir::Value value) {
  while (auto result = llvm::dyn_cast<mlir::OpResult>(value)) {
    mlir::Operation* op = result.getOwner();
    if (!llvm::isa_and_nonnull<DistDialect>(op->getDialect())) break;
    if (auto composite = llvm::dyn_cast<CompositeOp>(op))
      return llvm::cast<mlir::StringAttr>(composite.getOutputNames()[result.getResultNumber()])
          .getValue();
    unsigned index = result.getResultNumber();
    // A guard and a loop over micro-batches give what their bodies yield.
    if (llvm::isa<OnOp, MicroOp, ForeachBlockOp>(op)) {
      value = op->getRegion(0).front().getTerminator()->getOperand(index);
      continue;
    }
    if (auto wait = llvm::dyn_cast<WaitOp>(op)) {
      op = wait.getPending().getDefiningOp();
      if (!op) return "";
    }
    if (op->getNumRegions() != 0 || index >= op->getNumOperands()) return "";
    value = op->getOperand(index);
  }
  return pd::nameOf(value);
}

}  // namespace dtranspile::dist
