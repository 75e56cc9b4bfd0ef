#include "passes/support/seeds.h"

namespace dtranspile::passes {

std::vector<pd::OpView> seedsOf(pd::ProgramOp main) {
  std::vector<pd::OpView> seeds;
  for (mlir::Operation& op : *main.getBodyBlock()) {
    if (!pd::OpView::isFrameworkOp(&op) || op.getNumResults() == 0) continue;
    const int role = pd::OpView(&op).role();
    if ((role & pd::kLoss) && (role & pd::kBackward)) seeds.push_back(pd::OpView(&op));
  }
  return seeds;
}

mlir::Operation* lossOf(pd::ProgramOp main) {
  for (mlir::Operation& op : *main.getBodyBlock()) {
    if (!pd::OpView::isFrameworkOp(&op) || op.getNumResults() == 0) continue;
    const int role = pd::OpView(&op).role();
    if ((role & pd::kLoss) && !(role & pd::kBackward)) return &op;
  }
  return nullptr;
}

// A scale behind each seed, which all other readers of the seed read instead.
std::vector<mlir::Operation*> scaleSeeds(llvm::ArrayRef<pd::OpView> seeds, double factor) {
  pd::Declarations declarations;
  std::vector<mlir::Operation*> scales;
  for (pd::OpView seed : seeds) {
    mlir::Value value = seed.operation()->getResult(0);
    mlir::OpBuilder builder(seed.operation()->getContext());
    builder.setInsertionPointAfter(seed.operation());
    mlir::Value scaled = scale(builder, seed.operation()->getLoc(), value, factor,
                               pd::nameOf(value), pd::kBackward, declarations);
    value.replaceAllUsesExcept(scaled, scaled.getDefiningOp());
    scales.push_back(scaled.getDefiningOp());
  }
  return scales;
}

void unscaleSeeds(llvm::ArrayRef<mlir::Operation*> scales) {
  for (mlir::Operation* op : scales) {
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    op->erase();
  }
}

}  // namespace dtranspile::passes
