#include "passes/support/step.h"

#include "dialects/dist/lookup.h"
#include "llvm/ADT/StringSet.h"
#include "passes/support/job.h"

namespace dtranspile::passes {

bool isBetweenLayers(mlir::Operation* op) {
  if (llvm::isa<dist::SliceOp>(op)) return true;
  if (!llvm::isa<dist::AllReduceOp, dist::AllGatherOp, dist::ReduceScatterOp>(op)) return false;
  dist::CommOp comm = dist::lookupComm(op, dist::commOf(op));
  return comm && llvm::is_contained({llvm::StringRef(kLayers), llvm::StringRef(kShards),
                                     llvm::StringRef(kBetween)},
                                    comm.getCarries().value_or(""));
}

// What is put together is cut again at most: two steps to the op that takes it. What only a
// variable takes has the role of what makes it.
int roleIn(mlir::Operation* op) {
  if (pd::OpView::isFrameworkOp(op)) return pd::OpView(op).role();
  if (!isBetweenLayers(op)) return pd::kForward;
  mlir::Operation* first = nullptr;
  for (mlir::Operation* user : op->getUsers()) {
    user = inBlock(op->getBlock(), user);
    const bool known = pd::OpView::isFrameworkOp(user) || isBetweenLayers(user);
    if (known && (!first || user->isBeforeInBlock(first))) first = user;
  }
  if (first) return roleIn(first);
  int role = pd::kForward;
  for (mlir::Value operand : op->getOperands())
    if (mlir::Operation* maker = operand.getDefiningOp()) role |= roleIn(maker);
  return role;
}

bool addsUpOverSteps(mlir::Operation* op) {
  if (!pd::OpView::isFrameworkOp(op) || pd::OpView(op).type() != "sum" ||
      op->getNumOperands() != 2 || !op->hasOneUse())
    return false;
  auto set = llvm::dyn_cast<pd::SetOp>(*op->user_begin());
  return set && llvm::count_if(op->getOperands(), [&](mlir::Value value) {
                  auto get = value.getDefiningOp<pd::GetOp>();
                  return get && get.getVarAttr() == set.getVarAttr();
                }) == 1;
}

bool runsOnce(mlir::Operation* op) {
  if (addsUpOverSteps(op)) return true;
  const int role = roleIn(op);
  return (role & pd::kOptimize) || role == pd::kLrSched;
}

bool isBackward(mlir::Operation* op) { return (roleIn(op) & pd::kBackward) != 0; }

llvm::StringRef deviceOf(mlir::Operation* op) {
  if (!pd::OpView::isFrameworkOp(op)) return "";
  auto device = llvm::dyn_cast_or_null<mlir::StringAttr>(pd::OpView(op).attr("op_device"));
  return device ? device.getValue() : "";
}

int64_t devicesOf(pd::ProgramOp main) {
  llvm::StringSet<> devices;
  for (mlir::Operation& op : *main.getBodyBlock())
    if (!runsOnce(&op))
      if (llvm::StringRef device = deviceOf(&op); device.starts_with("gpu:") && device != "gpu:all")
        devices.insert(device);
  return static_cast<int64_t>(devices.size());
}

// What regions take from outside counts as well.
llvm::SmallVector<mlir::Value> operandsOf(mlir::Operation* op) {
  llvm::SmallVector<mlir::Value> values;
  op->walk([&](mlir::Operation* inner) {
    for (mlir::Value operand : inner->getOperands())
      if (operand && !op->isAncestor(operand.getParentBlock()->getParentOp()))
        values.push_back(operand);
  });
  return values;
}

// Pure ops that follow from constants, or (in the forward part) from feeds: every stage or segment
// may compute them for itself, which costs less than sending them. Of the backward part only what
// follows from constants.
llvm::DenseSet<mlir::Operation*> repeatableOps(pd::ProgramOp main) {
  llvm::DenseSet<mlir::Operation*> repeatable;
  for (mlir::Operation& op : *main.getBodyBlock()) {
    if (!pd::OpView::isFrameworkOp(&op) || op.getNumRegions() || runsOnce(&op)) continue;
    const pd::OpView view(&op);
    if (!view.spec() || view.spec()->effects != pd::kPure || view.type() == "feed") continue;
    const bool constant = isBackward(&op);
    if (llvm::all_of(op.getOperands(), [&](mlir::Value value) {
          mlir::Operation* maker = value.getDefiningOp();
          if (!maker) return false;
          if (llvm::isa<pd::InputOp, pd::UndefOp>(maker)) return !constant;
          return repeatable.contains(maker);
        }))
      repeatable.insert(&op);
  }
  return repeatable;
}

llvm::DenseSet<mlir::Operation*> opsOfTheBatch(pd::ProgramOp main) {
  llvm::DenseSet<mlir::Operation*> ops;
  for (mlir::Operation& op : *main.getBodyBlock()) {
    const pd::OpSpec* spec = pd::OpView::isFrameworkOp(&op) ? pd::OpView(&op).spec() : nullptr;
    const bool own = llvm::isa<pd::InputOp>(op) || (spec && (spec->effects & pd::kRandom));
    if (own || llvm::any_of(operandsOf(&op), [&](mlir::Value value) {
          return value.getDefiningOp() && ops.contains(value.getDefiningOp());
        }))
      ops.insert(&op);
  }
  return ops;
}

}  // namespace dtranspile::passes
