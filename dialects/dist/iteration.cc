// The verifier asks before it is known that yields and arguments fit their ops: what does not is no
// answer here.
#include "dialects/dist/iteration.h"

#include "dialects/dist/dist.h"
#include "dialects/pd/op_view.h"

namespace dtranspile::dist {
namespace {

using mlir::Operation;

// What a guard without an else-body gives as result `number`: the operand of its yield. With one
// the ranks outside of the guard go on with something else. Null where there is none.
mlir::OpOperand* yielded(OnOp on, unsigned number) {
  mlir::Region& body = on.getBody();
  if (!on.getOtherwise().empty() || body.empty() || body.front().empty()) return nullptr;
  auto yield = llvm::dyn_cast<YieldOp>(body.front().back());
  return yield && number < yield->getNumOperands() ? &yield->getOpOperand(number) : nullptr;
}

// What the only use of a value in a guard, or by it, is inside; null where it is none of these.
mlir::Value inside(OnOp on, mlir::OpOperand& use) {
  if (use.getOwner() != on.getOperation()) return use.get();  // captured
  const unsigned number = use.getOperandNumber();
  return number < on.getBody().getNumArguments() ? on.getBody().getArgument(number) : mlir::Value();
}

// Whoever reads a value there looks at its extents only: the gradient of a batch_norm does of its
// running statistics, unless it runs on them.
bool asksForExtents(mlir::OpOperand& use) {
  Operation* op = use.getOwner();
  const auto all = [](mlir::Value value) {
    return llvm::all_of(value.getUses(), [](mlir::OpOperand& one) { return asksForExtents(one); });
  };
  if (auto on = llvm::dyn_cast<OnOp>(op)) {
    mlir::Value argument = inside(on, use);
    return argument && all(argument);
  }
  if (auto on = llvm::dyn_cast<OnOp>(op->getParentOp()); on && llvm::isa<YieldOp>(op))
    return yielded(on, use.getOperandNumber()) == &use &&
           use.getOperandNumber() < on->getNumResults() &&
           all(on->getResult(use.getOperandNumber()));
  if (!pd::OpView::isFrameworkOp(op)) return false;
  const pd::OpView view(op);
  return view.type() == "batch_norm_grad" && !view.getBool("use_global_stats") &&
         !view.getBool("is_test") && view.input("Mean") != use.get() &&
         view.input("Variance") != use.get() &&
         (view.input("MeanOut") == use.get() || view.input("VarianceOut") == use.get());
}

}  // namespace

// Whether a value that a loop over micro-batches yields is its argument plus something: the
// argument enters one sum, or a guard in which that is so.
bool accumulates(mlir::Value value, mlir::Value argument) {
  if (value == argument) return true;
  auto result = llvm::dyn_cast<mlir::OpResult>(value);
  if (!result || !argument.hasOneUse()) return false;
  Operation* op = result.getOwner();
  mlir::OpOperand& use = *argument.use_begin();
  if (auto on = llvm::dyn_cast<OnOp>(op)) {
    mlir::OpOperand* given = yielded(on, result.getResultNumber());
    mlir::Value taken = inside(on, use);
    return given && taken && accumulates(given->get(), taken);
  }
  if (use.getOwner() != op || !pd::OpView::isFrameworkOp(op) || op->hasAttr(kSrcAttr)) return false;
  const llvm::StringRef type = pd::OpView(op).type();
  return type == "sum" || type == "elementwise_add";
}

// Whether a yielded value is the next state of its argument and used for nothing else in this turn:
// running statistics of batch norm, through guards too.
bool movesState(mlir::OpOperand& handed, mlir::Value argument) {
  auto result = llvm::dyn_cast<mlir::OpResult>(handed.get());
  if (!result || !argument.hasOneUse() ||
      !llvm::all_of(result.getUses(),
                    [&](mlir::OpOperand& use) { return &use == &handed || asksForExtents(use); }))
    return false;
  Operation* op = result.getOwner();
  mlir::OpOperand& use = *argument.use_begin();
  if (auto on = llvm::dyn_cast<OnOp>(op)) {
    mlir::OpOperand* given = yielded(on, result.getResultNumber());
    mlir::Value taken = inside(on, use);
    return given && taken && movesState(*given, taken);
  }
  if (use.getOwner() != op || !pd::OpView::isFrameworkOp(op)) return false;
  const pd::OpView view(op);
  for (llvm::StringRef state : {"Mean", "Variance"})
    if (view.type() == "batch_norm" && view.input(state) == argument &&
        view.output((state + "Out").str()) == result)
      return true;
  return false;
}

}  // namespace dtranspile::dist
