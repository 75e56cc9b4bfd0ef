#include "compiler/lower/block_lowering.h"

#include "compiler/lower/rules.h"

namespace dtranspile::lower {

using llvm::LogicalResult;
using llvm::StringRef;

namespace {

struct BlockRow {
  StringRef type;
  LogicalResult (*lower)(Lowering&, const BlockOp&);
};

constexpr BlockRow kRows[] = {
    {"while", lowerWhile},
    {"while_grad", lowerWhileGrad},
    {"conditional_block", lowerBranch},
    {"conditional_block_grad", lowerBranchGrad},
    {"recurrent", lowerRecurrent},
    {"recurrent_grad", lowerRecurrentGrad},
};

const BlockRow* findRow(StringRef type) {
  const BlockRow* row = llvm::find_if(kRows, [&](const BlockRow& one) { return one.type == type; });
  return row == std::end(kRows) ? nullptr : row;
}

}  // namespace

bool isBlockOp(StringRef type) { return findRow(type) != nullptr; }

bool isNative(StringRef type) { return isBlockOp(type) || findRule(type); }

LogicalResult lowerBlockOp(Lowering& lowering, pd::OpView view) {
  const BlockOp op(view);
  if (failed(op.check())) return llvm::failure();
  for (mlir::Value operand : op.operation()->getOperands()) {
    if (llvm::isa<pd::TapeType>(operand.getType()) && !lowering.tapes().count(operand))
      return op.unsupported("a gradient whose forward block ran in an earlier turn of a loop");
  }
  const BlockRow* row = findRow(view.type());
  return row ? row->lower(lowering, op) : op.unsupported("this kind of block");
}

}  // namespace dtranspile::lower
