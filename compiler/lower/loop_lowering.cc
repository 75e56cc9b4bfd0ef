// while and while_grad: a loop node.
#include <utility>

#include "compiler/lower/block_lowering.h"
#include "compiler/lower/block_nodes.h"
#include "compiler/lower/block_tape.h"
#include "compiler/lower/turns.h"

namespace dtranspile::lower {

using llvm::failure;
using llvm::LogicalResult;
using llvm::success;

// Where a gradient reads the tape, each turn also pushes the condition that it ends with: the list
// has as many items as there were turns, which is how the gradient's loop knows when to end.
LogicalResult lowerWhile(Lowering& lowering, const BlockOp& op) {
  mlir::Value condition = op.op().input("Condition");
  if (!condition) return op.unsupported("an absent Condition");
  Turns turns(lowering, op);
  turns.addCaptured();
  std::vector<Node> body;
  Tape lists;
  const bool taped = isTapeRead(lowering, op, "StepScopes");
  auto after = [&] {
    if (taped) lists = pushTape(lowering, savedNow(lowering, op));
    return success();
  };
  if (failed(turns.lower(body, [] { return success(); }, after))) return failure();
  Tape::Item more{"turns", lowering.info(condition), lowering.bufferOf(condition)};
  for (const Carried& c : turns.carried()) {
    if (c.name == pd::nameOf(condition)) more = {"turns", c.info, c.buffer};
  }
  turns.initialise();
  if (taped) {
    lists.turns = {more.name, more.info, newList(lowering, more.name), 1};
    clearTape(lowering, lists);
    {
      const Lowering::Into into(lowering, body);
      addCall(lowering, "dt_list_push", {more.buffer}, {lists.turns.buffer});
    }
    lowering.tapes()[op.op().output("StepScopes")] = lists;
  }
  addLoop(lowering, more.buffer, std::move(body));
  turns.bindResults(op.operation()->getResults());
  for (mlir::OpResult result : op.operation()->getResults()) {
    if (!llvm::isa<pd::TapeType>(result.getType()) && lowering.needed(result) &&
        !lowering.hasBuffer(result)) {
      return op.unsupported("output " + pd::nameOf(result) + ", which the block does not write,");
    }
  }
  return success();
}

// The turns in reverse, each with the snapshots that its forward turn has pushed on the tape.
// Gradients of what the loop carries go from turn to turn; gradients of what it only reads are
// summed over turns.
LogicalResult lowerWhileGrad(Lowering& lowering, const BlockOp& op) {
  std::optional<Tape> tape = tapeOf(lowering, op, "StepScopes");
  if (!tape || tape->turns.buffer < 0) return op.unsupported("a gradient without its forward loop");
  Turns turns(lowering, op);
  turns.addCaptured();
  // Gradients of the loop's outputs under the names that the block gives them: lists, which it
  // reads and updates.
  const std::vector<std::string> inner = op.op().getStrings("original_output_grad");
  llvm::StringSet<> captures;
  for (const std::string& name : op.names("captures")) captures.insert(name);
  for (size_t i = 0; i < inner.size(); ++i) {
    mlir::Value argument = op.argument(inner[i]),
                operand = op.op().input("Out@GRAD", static_cast<unsigned>(i));
    const bool captured = captures.contains(inner[i]);
    if (!argument || !operand || captured || tape->values.count(inner[i])) continue;
    turns.add({.name = inner[i],
               .initial = operand,
               .argument = argument,
               .info = lowering.info(operand),
               .next = ""});
  }
  const int left = tape->turns.buffer, more = newFlag(lowering);
  auto anyLeft = [&] { return addCall(lowering, "dt_list_any", {left}, {more}), success(); };
  auto begin = [&] { return turns.initialise(), anyLeft(); };
  auto before = [] { return success(); };
  if (failed(lowerGradientLoop(lowering, op, {"X", *tape, more}, turns, before, anyLeft, begin)))
    return failure();
  turns.bindResults(op.operation()->getResults());
  return success();
}

}  // namespace dtranspile::lower
