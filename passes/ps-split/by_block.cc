#include "passes/ps-split/by_block.h"

#include "dialects/pd/types.h"
#include "llvm/ADT/StringSet.h"

namespace dtranspile::passes {

// The ops of one parameter's update that lead to these values, in program order.
std::vector<mlir::Operation*> neededFor(const UpdatePart& part, int owner,
                                        llvm::SmallVector<mlir::Value> values) {
  llvm::DenseSet<mlir::Operation*> found;
  while (!values.empty()) {
    mlir::Operation* op = values.pop_back_val().getDefiningOp();
    if (!op || part.ownerOf(op) != owner || !found.insert(op).second) continue;
    for (mlir::Value operand : op->getOperands())
      if (part.ownerOf(operand) == owner) values.push_back(operand);
  }
  std::vector<mlir::Operation*> ops(found.begin(), found.end());
  llvm::sort(ops, [](mlir::Operation* a, mlir::Operation* b) { return a->isBeforeInBlock(b); });
  return ops;
}

// What a value of the trainer is within the loop over blocks: the gradient is what has been merged
// from pushes, and state of the optimizer is read from the server's own variable, block by block.
mlir::Value valueInside(const UpdatePart& part, int owner, mlir::Value value,
                        mlir::OpBuilder& inside) {
  const Served& served = part.parameters()[owner];
  pd::VarOp var = served.var;
  if (value == served.gradient) {
    auto dense = mlir::RankedTensorType::get(pd::tensorOf(var.getType()).getShape(),
                                             pd::tensorOf(value.getType()).getElementType());
    mlir::Type block = blockType(dense);
    if (served.byRows) block = pd::RowsType::get(block.getContext(), block);
    return dist::MergedOp::create(inside, value.getLoc(), block,
                                  mlir::FlatSymbolRefAttr::get(var.getSymNameAttr()));
  }
  return pd::GetOp::create(inside, value.getLoc(), blockType(value.getType()),
                           variableBehind(value));
}

void cloneForBlock(const UpdatePart& part, int owner, mlir::Operation* op, mlir::OpBuilder& inside,
                   mlir::IRMapping& map) {
  const llvm::ArrayRef<int64_t> shape =
      pd::tensorOf(pd::VarOp(part.parameters()[owner].var).getType()).getShape();
  mlir::Operation* copy = inside.clone(*op, map);
  for (auto [from, to] : llvm::zip(op->getResults(), copy->getResults())) {
    auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(from.getType());
    if (part.ownerOf(from) == owner && tensor && tensor.getShape() == shape)
      to.setType(blockType(tensor));
  }
}

void copyUsedDeclarations(const UpdatePart& part, pd::ProgramOp from, pd::ProgramOp to) {
  llvm::StringSet<> names;
  for (mlir::Operation* op : part.ops()) {
    for (mlir::Value result : op->getResults()) names.insert(pd::nameOf(result));
    for (mlir::Value value : takenBy(op)) names.insert(pd::nameOf(value));
  }
  copyDeclarations(
      from, to, [&](llvm::StringRef name) { return names.contains(name) || part.touches(name); });
}

}  // namespace dtranspile::passes
