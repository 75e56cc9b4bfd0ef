// The module of a class of ranks.
#include "compiler/specialize/specialize.h"

#include <set>

#include "compiler/specialize/guards.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/pd.h"
#include "mlir/IR/Verifier.h"

namespace dtranspile {
namespace {

using dist::SelAttr;

// What the programs of a role need beside them: its mesh, which stands first, its communicators,
// those by which others ask it, and what these name.
class Surroundings {
 public:
  Surroundings(dist::RoleOp role, mlir::OpBuilder& builder)
      : job_(llvm::cast<mlir::ModuleOp>(role->getParentOp())), role_(role), builder_(builder) {}

  void add() {
    addMesh(role_.getMeshAttr());
    for (auto comm : job_.getOps<dist::CommOp>())
      if (concerns(comm)) addMesh(comm.getMeshAttr());
    for (auto comm : job_.getOps<dist::CommOp>())
      if (concerns(comm)) addServer(comm);
    for (auto comm : job_.getOps<dist::CommOp>())
      if (concerns(comm)) builder_.clone(*comm);
  }

 private:
  bool concerns(dist::CommOp comm) {
    return comm.getMesh() == role_.getMesh() || comm.getServer() == role_.getSymName();
  }

  void addMesh(mlir::FlatSymbolRefAttr name) {
    auto* mesh = mlir::SymbolTable::lookupSymbolIn(job_, name);
    if (mesh && meshes_.insert(name.getValue()).second) builder_.clone(*mesh);
  }

  // A role that is asked, with its variables only: layouts of tables are theirs.
  void addServer(dist::CommOp comm) {
    if (!comm.getServer() || comm.getServer() == role_.getSymName()) return;
    auto server =
        mlir::SymbolTable::lookupNearestSymbolFrom<dist::RoleOp>(comm, comm.getServerAttr());
    if (!server || !servers_.insert(server.getSymName()).second) return;
    addMesh(server.getMeshAttr());
    auto copy = llvm::cast<dist::RoleOp>(builder_.clone(*server));
    for (mlir::Operation& op : llvm::make_early_inc_range(copy.getBody().front()))
      if (llvm::isa<pd::ProgramOp>(op)) op.erase();
  }

  mlir::ModuleOp job_;
  dist::RoleOp role_;
  mlir::OpBuilder& builder_;
  std::set<llvm::StringRef> meshes_, servers_;
};

}  // namespace

// A new module with what a rank of the class runs: variables that it has, programs with their
// guards resolved, and the communicators and meshes that they name. The job is not changed.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> specialize(dist::RoleOp role,
                                                              const RankClass& rankClass,
                                                              const SpecializeOptions& options) {
  if (!dist::meshOf(role)) return role.emitError("has no mesh");
  mlir::OpBuilder builder(role.getContext());
  mlir::OwningOpRef<mlir::ModuleOp> module(mlir::ModuleOp::create(role.getLoc()));
  (*module)->setAttr(dist::kClassAttr, builder.getStringAttr(rankClass.name));
  (*module)->setAttr(dist::kRoleAttr, role.getSymNameAttr());
  if (!rankClass.where.getSets().empty()) (*module)->setAttr(dist::kRanksAttr, rankClass.where);
  builder.setInsertionPointToEnd(module->getBody());
  Surroundings(role, builder).add();
  for (mlir::Operation& op : role.getBody().front()) {
    auto at = op.getAttrOfType<SelAttr>(dist::kAtAttr);
    if (at && !at.intersect(rankClass.where)) continue;
    mlir::Operation* copy = builder.clone(op);
    if (at && at.contains(rankClass.where)) copy->removeAttr(dist::kAtAttr);
    auto program = llvm::dyn_cast<pd::ProgramOp>(copy);
    if (program && mlir::failed(resolveGuards(program, rankClass, options))) return mlir::failure();
  }
  if (options.verify && mlir::failed(mlir::verify(*module))) return mlir::failure();
  return std::move(module);
}

}  // namespace dtranspile
