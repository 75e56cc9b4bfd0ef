// conditional_block and its gradient: a branch node.
#include <utility>

#include "compiler/lower/block_lowering.h"
#include "compiler/lower/block_nodes.h"
#include "compiler/lower/block_tape.h"

namespace dtranspile::lower {

using llvm::failure;
using llvm::LogicalResult;
using llvm::success;

namespace {

// The condition of a branch: one bool, or (is_scalar_condition = false) whether all of Cond have
// elements. Below 0 where a Cond is absent.
int branchCondition(Lowering& lowering, const BlockOp& block) {
  const pd::OpView& op = block.op();
  mlir::Value first = op.input("Cond");
  if (!first || llvm::is_contained(op.inputs("Cond"), mlir::Value())) return -1;
  const int condition = newFlag(lowering);
  if (op.getBool("is_scalar_condition")) {
    lowering.copy(lowering.bufferOf(first), condition);
    return condition;
  }
  std::vector<int> inputs;
  for (mlir::Value value : op.inputs("Cond")) inputs.push_back(lowering.bufferOf(value));
  addCallOnList(lowering, "dt_all_have_elements", inputs, condition);
  return condition;
}

// The framework hands on gradients that stand in the branch's own scope. One that the block writes
// around itself, since a block around it has a variable of that name already, counts as not written
// (docs/operators/defects.md).
bool losesGradient(const Lowering& lowering, const BlockOp& op, mlir::Value forward) {
  const std::string name = (pd::nameOf(forward) + "@GRAD").str();
  if (!op.isWritten(name) || lowering.request().mendDefects) return false;
  op.operation()->emitWarning()
      << op.op().type() << ": the framework takes zeros for " << name
      << ", which a block around the branch declares, too; they are reproduced "
      << "(--mend-defects: the gradient)";
  return true;
}

}  // namespace

// A result is one buffer that both ways write: the block's last value of that name where the branch
// is taken, what the variable held before where it is not.
LogicalResult lowerBranch(Lowering& lowering, const BlockOp& op) {
  const int condition = branchCondition(lowering, op);
  if (condition < 0) return op.unsupported("an absent Cond");
  llvm::StringMap<mlir::Value> captured;
  for (auto [i, name] : llvm::enumerate(op.names("captures"))) captured[name] = op.captured(i);
  std::vector<Node> then, otherwise;
  auto before = [&] { return bindCaptures(lowering, op), success(); };
  std::vector<std::pair<int, int>> taken, passed;
  auto after = [&]() -> LogicalResult {
    for (mlir::OpResult result : op.operation()->getResults()) {
      if (llvm::isa<pd::TapeType>(result.getType()) || !lowering.needed(result)) continue;
      const std::string name = pd::nameOf(result).str();
      mlir::Value value = op.inside(name);
      if (!value) return op.unsupported("output " + name + ", which the block does not write,");
      pd::TensorInfo merged = lowering.info(value);
      mlir::Value old = captured.lookup(name);
      const bool written = old && !old.getDefiningOp<pd::UndefOp>();
      bool changed = false;
      if (written && failed(merge(op, merged, lowering.info(old), name, changed))) return failure();
      const int buffer =
          isList(lowering, value) ? lowering.bufferOf(value) : lowering.newBuffer(name, merged);
      lowering.bind(result, buffer, merged);
      taken.emplace_back(lowering.bufferOf(value), buffer);
      if (written) passed.emplace_back(lowering.bufferOf(old), buffer);
    }
    lowering.copyAll(taken);
    return success();
  };
  if (failed(lowerBody(lowering, op, then, before, after))) return failure();
  if (isTapeRead(lowering, op, "Scope"))
    lowering.tapes()[op.op().output("Scope")] = savedNow(lowering, op);
  {
    const Lowering::Into into(lowering, otherwise);
    lowering.copyAll(passed);
  }
  addBranch(lowering, condition, std::move(then), std::move(otherwise));
  return success();
}

// The values of the forward block are where it left them; without it all gradients are zero.
LogicalResult lowerBranchGrad(Lowering& lowering, const BlockOp& op) {
  std::optional<Tape> tape = tapeOf(lowering, op, "Scope");
  if (!tape) return op.unsupported("a gradient without its forward block");
  const int condition = branchCondition(lowering, op);
  if (condition < 0) return op.unsupported("an absent Cond");
  std::vector<Node> then, otherwise;
  auto before = [&] {
    bindCaptures(lowering, op);
    bindLocals(lowering, op, *tape);
    return success();
  };
  std::vector<std::pair<int, int>> taken, zeros;
  auto after = [&]() -> LogicalResult {
    for (unsigned i = 0; i < op.op().outputCount("Input@GRAD"); ++i) {
      mlir::Value result = op.op().output("Input@GRAD", i), forward = op.op().input("Input", i);
      if (!result || !lowering.needed(result) || !forward) continue;
      mlir::Value value = op.gradientInside(forward, pd::nameOf(result));
      if (!value)
        return op.unsupported("output " + pd::nameOf(result) + ", which the block does not write,");
      pd::TensorInfo merged = lowering.info(value);
      bool changed = false;
      if (failed(merge(op, merged, lowering.info(forward), pd::nameOf(result), changed)))
        return failure();
      const int buffer = lowering.newBuffer(pd::nameOf(result), merged);
      lowering.bind(result, buffer, merged);
      zeros.emplace_back(lowering.bufferOf(forward), buffer);
      if (losesGradient(lowering, op, forward))
        addCall(lowering, "dt_zeros_like", {lowering.bufferOf(forward)}, {buffer});
      else taken.emplace_back(lowering.bufferOf(value), buffer);
    }
    lowering.copyAll(taken);
    return success();
  };
  if (failed(lowerBody(lowering, op, then, before, after))) return failure();
  {
    const Lowering::Into into(lowering, otherwise);
    for (const auto& [forward, buffer] : zeros)
      addCall(lowering, "dt_zeros_like", {forward}, {buffer});
  }
  // What the block writes outside of its results.
  for (mlir::Value result : op.op().outputs("$written")) {
    mlir::Value value = result ? op.inside(pd::nameOf(result)) : mlir::Value();
    if (value) lowering.bind(result, lowering.bufferOf(value), lowering.info(value));
  }
  addBranch(lowering, condition, std::move(then), std::move(otherwise));
  return success();
}

}  // namespace dtranspile::lower
