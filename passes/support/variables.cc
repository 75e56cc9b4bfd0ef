#include "passes/support/variables.h"

namespace dtranspile::passes {

llvm::DenseMap<mlir::StringAttr, Touches> touchesOf(pd::ProgramOp program) {
  llvm::DenseMap<mlir::StringAttr, Touches> touches;
  program.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
    if (auto get = llvm::dyn_cast<pd::GetOp>(op))
      touches[get.getVarAttr().getAttr()].gets.push_back(get);
    if (auto set = llvm::dyn_cast<pd::SetOp>(op))
      touches[set.getVarAttr().getAttr()].sets.push_back(set);
  });
  return touches;
}

mlir::RankedTensorType fixedTensor(mlir::Type type) {
  auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() ? tensor : mlir::RankedTensorType();
}

namespace {

// Variables that start-up sets, and reads after that only, at the top of its program: there they
// can be cut.
llvm::DenseSet<mlir::StringAttr> established(pd::ProgramOp startup) {
  llvm::DenseSet<mlir::StringAttr> set, not_;
  if (!startup) return set;
  startup.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation* op) {
    auto get = llvm::dyn_cast<pd::GetOp>(op);
    auto put = llvm::dyn_cast<pd::SetOp>(op);
    if (!get && !put) return;
    const mlir::StringAttr name = (get ? get.getVarAttr() : put.getVarAttr()).getAttr();
    if (op->getBlock() != startup.getBodyBlock() || (get && !set.contains(name))) not_.insert(name);
    else if (put) set.insert(name);
  });
  for (mlir::StringAttr name : not_) set.erase(name);
  return set;
}

// Variables whose memory is a piece of another's.
llvm::DenseSet<mlir::StringAttr> sharingMemory(dist::RoleOp role) {
  llvm::DenseSet<mlir::StringAttr> names;
  for (auto var : role.getBody().front().getOps<pd::VarOp>())
    if (mlir::Attribute parts = var->getAttr(pd::kPartsAttr))
      parts.walk([&](mlir::FlatSymbolRefAttr part) { names.insert(part.getAttr()); });
  return names;
}

}  // namespace

Storable::Storable(const JobOnAxes& job)
    : axes_(job.axes), established_(established(job.startup)), shared_(sharingMemory(job.role)) {}

// What lies along axes of other passes (those of split layers) is no matter.
bool Storable::isWholeAlong(dist::RelAttr relation) const {
  return llvm::none_of(relation.getAxes(), [&](dist::AxisRelAttr state) {
    return llvm::is_contained(axes_, state.getAxis()) || state.getState() != dist::StateKind::Split;
  });
}

bool Storable::operator()(pd::VarOp var) const {
  auto relation = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr);
  const mlir::StringAttr name = var.getSymNameAttr();
  return !var->hasAttr(pd::kPartsAttr) && !var->hasAttr(dist::kAtAttr) &&
         fixedTensor(var.getType()) && (!relation || isWholeAlong(relation)) &&
         established_.contains(name) && !shared_.contains(name);
}

// Start-up may set a variable several times and read it in between; a part can be cut from the last
// value only. So reads are forwarded to the value that was set before, all sets but the last one
// are erased, and the last one sets the part. Every variable must be set before it is read.
void keepPartsInStartup(pd::ProgramOp startup, llvm::ArrayRef<pd::VarOp> variables,
                        CutVariable cut) {
  llvm::DenseMap<mlir::StringAttr, mlir::Value> now;
  llvm::DenseMap<mlir::StringAttr, pd::SetOp> last;
  for (pd::VarOp var : variables) now[var.getSymNameAttr()] = {};
  if (now.empty()) return;
  for (mlir::Operation& op : llvm::make_early_inc_range(*startup.getBodyBlock())) {
    if (auto set = llvm::dyn_cast<pd::SetOp>(op)) {
      const mlir::StringAttr name = set.getVarAttr().getAttr();
      if (!now.contains(name)) continue;
      now[name] = set.getValue();
      if (pd::SetOp before = last.lookup(name)) before.erase();
      last[name] = set;
    } else if (auto get = llvm::dyn_cast<pd::GetOp>(op)) {
      if (!now.contains(get.getVarAttr().getAttr())) continue;
      get.getValue().replaceAllUsesWith(now[get.getVarAttr().getAttr()]);
      get.erase();
    }
  }
  for (pd::VarOp var : variables) {
    pd::SetOp set = last.lookup(var.getSymNameAttr());
    mlir::OpBuilder builder(set);
    set->getOpOperand(0).set(cut(builder, set.getLoc(), var, set.getValue()));
  }
}

}  // namespace dtranspile::passes
