#include "passes/support/update_ops.h"

#include "llvm/ADT/StringSet.h"
#include "passes/support/job.h"

namespace dtranspile::passes {

bool isOfUpdate(mlir::Operation* op) {
  if (!pd::OpView::isFrameworkOp(op)) return false;
  const int role = pd::OpView(op).role();
  return (role & (pd::kOptimize | pd::kLrSched)) != 0 && (role & pd::kBackward) == 0;
}

bool isConstantOp(mlir::Operation* op) {
  if (llvm::isa<pd::UndefOp>(op)) return true;
  if (!pd::OpView::isFrameworkOp(op) || op->getNumOperands() || op->getNumRegions()) return false;
  const pd::OpSpec* spec = pd::OpView(op).spec();
  return spec && spec->effects == pd::kPure;
}

bool takesCapturesOnly(mlir::Operation* op) {
  for (mlir::Region& region : op->getRegions()) {
    const auto found = region.walk([&](mlir::Operation* inner) {
      const bool inside = llvm::all_of(inner->getOperands(), [&](mlir::Value operand) {
        return !operand || region.isAncestor(operand.getParentRegion());
      });
      return inside ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
    });
    if (found.wasInterrupted()) return false;
  }
  return true;
}

llvm::StringMap<mlir::Value> completeGradients(pd::ProgramOp main) {
  llvm::StringMap<mlir::Value> gradients;
  for (mlir::Operation& op : *main.getBodyBlock()) {
    if (!pd::OpView::isFrameworkOp(&op)) continue;
    const pd::OpView view(&op);
    if (!(view.role() & pd::kBackward) || !view.hasAttr("op_role_var")) continue;
    const std::vector<std::string> names = view.getStrings("op_role_var");
    for (size_t i = 0; i + 1 < names.size(); i += 2)
      for (mlir::Value result : op.getResults())
        if (pd::nameOf(result) == names[i + 1]) gradients[names[i]] = result;
  }
  return gradients;
}

void forEachUpdated(pd::ProgramOp main,
                    llvm::function_ref<void(mlir::Operation*, llvm::StringRef)> visit) {
  llvm::StringSet<> done;
  forEachUpdate(main, [&](pd::OpView update, llvm::StringRef parameter) {
    done.insert(parameter);
    visit(update.operation(), parameter);
  });
  const llvm::StringMap<mlir::Value> gradients = completeGradients(main);
  for (mlir::Operation& op : *main.getBodyBlock())
    op.walk([&](pd::SetOp set) {
      mlir::Operation* writer = &op == set ? set.getValue().getDefiningOp() : &op;
      if (!writer || !isOfUpdate(writer) || !gradients.contains(set.getVar())) return;
      if (done.insert(set.getVar()).second) visit(writer, set.getVar());
    });
}

}  // namespace dtranspile::passes
