#include "dialects/dist/lookup.h"

#include "dialects/pd/op_view.h"

namespace dtranspile::dist {
namespace {

// With the collection of a verifier, which keeps tables between questions, or without one.
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

// The op whose symbol table has meshes, communicators and roles: the job, or the module that is the
// text of one class.
mlir::Operation* jobOf(mlir::Operation* op) {
  if (auto role = llvm::dyn_cast<RoleOp>(op)) return role->getParentOp();
  if (auto role = op->getParentOfType<RoleOp>()) return role->getParentOp();
  mlir::Operation* parent = op->getParentOp();
  return parent ? mlir::SymbolTable::getNearestSymbolTable(parent) : op;
}

// The role's mesh; in the text of a class, which has no role op, the one mesh of the module.
MeshOp meshOf(mlir::Operation* op, mlir::SymbolTableCollection* tables) {
  auto role = llvm::dyn_cast<RoleOp>(op);
  if (!role) role = op->getParentOfType<RoleOp>();
  mlir::Operation* job = jobOf(op);
  if (role)
    return llvm::dyn_cast_or_null<MeshOp>(lookup(job, role.getMeshAttr().getAttr(), tables));
  if (!job || job->getNumRegions() == 0 || job->getRegion(0).empty()) return {};
  auto meshes = job->getRegion(0).getOps<MeshOp>();
  return meshes.empty() ? MeshOp() : *meshes.begin();
}

// In the text of one class of ranks, where values located at its ranks are plain ones.
bool inClassText(mlir::Operation* op) {
  if (llvm::isa<RoleOp>(op) || op->getParentOfType<RoleOp>()) return false;
  mlir::Operation* job = jobOf(op);
  return job && job->hasAttr(kClassAttr);
}

SelAttr ranksOf(mlir::Operation* op) {
  SelAttr ranks = inClassText(op) ? jobOf(op)->getAttrOfType<SelAttr>(kRanksAttr) : SelAttr();
  return ranks ? ranks : SelAttr::of(op->getContext(), {});
}

// By the op around it, or by the attribute of a class's text; empty outside of roles.
llvm::StringRef roleOf(mlir::Operation* op) {
  if (auto role = op->getParentOfType<RoleOp>()) return role.getSymName();
  mlir::Operation* job = jobOf(op);
  auto name = job ? job->getAttrOfType<mlir::StringAttr>(kRoleAttr) : mlir::StringAttr();
  return name ? name.getValue() : "";
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

// From the op outwards, every guard narrows where the op runs; an else-body runs on the complement,
// which is a product of sets only if the guard is on one axis. Of a guard on several axes the axes
// are noted instead (`partly`): along these it is not known where the op runs.
Guard guardOf(mlir::Operation* op, mlir::SymbolTableCollection* tables) {
  Guard guard{ranksOf(op), {}};
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

// What an operation gives when it is over, whether it was started or run.
llvm::SmallVector<mlir::Type> completedTypes(mlir::TypeRange results) {
  if (results.size() == 1)
    if (auto pending = llvm::dyn_cast<PendingType>(results.front()))
      return llvm::to_vector(pending.getTypes());
  return llvm::to_vector(results);
}

namespace {

// What an argument of a region of this dialect stands for: an operand of the op; null for others.
mlir::Value operandOf(mlir::BlockArgument argument) {
  mlir::Operation* op = argument.getOwner()->getParentOp();
  unsigned index = argument.getArgNumber();
  if (llvm::isa_and_nonnull<ForeachBlockOp>(op) && index-- == 0) return {};
  const bool stands = llvm::isa_and_nonnull<OnOp, MicroOp, ForeachBlockOp, CompositeOp>(op);
  return stands && index < op->getNumOperands() ? op->getOperand(index) : mlir::Value();
}

// The value whose name a result of this dialect has; null where that is the result's own affair.
mlir::Value originOf(mlir::OpResult result) {
  mlir::Operation* op = result.getOwner();
  const unsigned index = result.getResultNumber();
  if (auto wait = llvm::dyn_cast<WaitOp>(op)) op = wait.getPending().getDefiningOp();
  if (auto on = llvm::dyn_cast_or_null<OnOp>(op)) {
    mlir::Block& body = on.getBody().front();
    op = body.empty() ? nullptr : &body.back();
  }
  return op && index < op->getNumOperands() ? op->getOperand(index) : mlir::Value();
}

}  // namespace

// Ops of this dialect move values and do not name them: the name is that of the value at the other
// end of the chain, or of the variable that an op asks others for.
llvm::StringRef nameOf(mlir::Value value) {
  while (value) {
    if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) {
      mlir::Value operand = operandOf(argument);
      if (!operand) break;
      value = operand;
      continue;
    }
    auto result = llvm::cast<mlir::OpResult>(value);
    mlir::Operation* op = result.getOwner();
    if (!llvm::isa_and_nonnull<DistDialect>(op->getDialect())) break;
    if (auto composite = llvm::dyn_cast<CompositeOp>(op))
      return llvm::cast<mlir::StringAttr>(composite.getOutputNames()[result.getResultNumber()])
          .getValue();
    if (auto recv = llvm::dyn_cast<RecvOp>(op)) return recv.getVariable().value_or("");
    if (auto rows = llvm::dyn_cast<LookupOp>(op)) return rows.getVariable().value_or("");
    if (auto remote = llvm::dyn_cast<RemoteOp>(op))
      return remote.getVar().getLeafReference().getValue();
    value = originOf(result);
  }
  return value ? pd::nameOf(value) : llvm::StringRef();
}

}  // namespace dtranspile::dist
