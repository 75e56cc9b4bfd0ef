// recurrent (StaticRNN) and its gradient: a loop over the leading extent of the inputs. Inside the
// block a sequence input is one row, `ex_states` are the `states` of the turn before, an output is
// row by row what the block computes. The gradient runs the turns backwards: the gradient of
// `states` is that of the next turn's `ex_states`.
#include <utility>

#include "compiler/lower/block_lowering.h"
#include "compiler/lower/block_nodes.h"
#include "compiler/lower/block_tape.h"
#include "compiler/lower/turns.h"

namespace dtranspile::lower {

using llvm::failure;
using llvm::LogicalResult;
using llvm::success;

namespace {

pd::TensorInfo rowOf(pd::TensorInfo info) {
  if (!info.dims.empty()) info.dims.erase(info.dims.begin());
  return info;
}

pd::TensorInfo stackOf(pd::TensorInfo row, int64_t extent) {
  row.dims.insert(row.dims.begin(), extent);
  return row;
}

}  // namespace

// step, more = begin(sequence); while more: rows of the inputs, the block, rows of the outputs,
// next. Where a gradient follows, each turn also pushes what the block's gradient will read to
// lists (the tape).
LogicalResult lowerRecurrent(Lowering& lowering, const BlockOp& block) {
  const pd::OpView& op = block.op();
  mlir::Value first = op.input("inputs");
  if (!first || lowering.info(first).dims.empty())
    return block.unsupported("a recurrent block without a sequence input");
  if (llvm::is_contained(op.inputs("inputs"), mlir::Value()))
    return block.unsupported("an absent sequence input");
  const int step = newCounter(lowering), more = newFlag(lowering),
            sequence = lowering.bufferOf(first);
  const int64_t reverse = op.getBool("reverse");
  const std::vector<std::string> previous = op.getStrings("ex_states"),
                                 states = op.getStrings("states");
  Turns turns(lowering, block);
  turns.addCaptured();
  for (size_t i = 0; i < previous.size() && i < states.size(); ++i) {
    mlir::Value initial = op.input("initial_states", static_cast<unsigned>(i));
    if (!initial) return block.unsupported("an absent initial state");
    turns.add({.name = previous[i],
               .initial = initial,
               .argument = block.argument(previous[i]),
               .info = lowering.info(initial),
               .next = states[i]});
  }
  auto before = [&]() -> LogicalResult {
    for (mlir::Value input : op.inputs("inputs")) {
      mlir::Value row = block.argument(pd::nameOf(input));
      if (!row) continue;
      lowering.bind(row, lowering.newBuffer(pd::nameOf(input), rowOf(lowering.info(input))),
                    rowOf(lowering.info(input)));
      addCall(lowering, "dt_row", {lowering.bufferOf(input), step}, {lowering.bufferOf(row)});
    }
    return success();
  };
  Tape lists;
  auto after = [&]() -> LogicalResult {
    for (unsigned i = 0; i < op.outputCount("outputs"); ++i) {
      mlir::Value result = op.output("outputs", i);
      mlir::Value value = result ? block.inside(op.outputName("outputs", i)) : mlir::Value();
      if (!value)
        return block.unsupported("output " + op.outputName("outputs", i) +
                                 ", which the block does not write,");
      const pd::TensorInfo stacked = stackOf(lowering.info(value), lowering.info(first).dims[0]);
      lowering.bind(result, lowering.newBuffer(op.outputName("outputs", i), stacked), stacked);
      addCall(lowering, "dt_set_row", {lowering.bufferOf(value), step, sequence},
              {lowering.bufferOf(result)});
    }
    if (isTapeRead(lowering, block, "step_scopes"))
      lists = pushTape(lowering, savedNow(lowering, block));
    addCall(lowering, "dt_loop_next", {sequence}, {step, more}, {reverse});
    return success();
  };
  std::vector<Node> body;
  if (failed(turns.lower(body, before, after))) return failure();
  turns.initialise();
  if (isTapeRead(lowering, block, "step_scopes")) {
    clearTape(lowering, lists);
    lowering.tapes()[op.output("step_scopes")] = lists;
  }
  addCall(lowering, "dt_loop_begin", {sequence}, {step, more}, {reverse});
  addLoop(lowering, more, std::move(body));
  turns.bindResults(op.outputs("$written"));
  return success();
}

// The same loop in the opposite direction. Carried are the gradients of the states: zero at first,
// and from turn to turn the gradient of `ex_states` becomes that of `states`. What is left after
// the last turn is the gradient of the initial states. Values of the forward block come from its
// tape, rows of sequences from these themselves.
LogicalResult lowerRecurrentGrad(Lowering& lowering, const BlockOp& block) {
  const pd::OpView& op = block.op();
  std::optional<Tape> tape = tapeOf(lowering, block, "step_scopes");
  mlir::Value first = op.input("inputs");
  if (!tape || !first) return block.unsupported("a gradient without its forward block");
  const int step = newCounter(lowering), more = newFlag(lowering),
            sequence = lowering.bufferOf(first);
  const int64_t reverse = !op.getBool("reverse");
  const std::vector<std::string> previous = op.getStrings("ex_states"),
                                 states = op.getStrings("states");
  Turns turns(lowering, block);
  std::vector<int> zeroLike;
  for (size_t i = 0; i < previous.size() && i < states.size(); ++i) {
    mlir::Value initial = op.input("initial_states", static_cast<unsigned>(i));
    if (!initial) return block.unsupported("an absent initial state");
    if (!block.inside(previous[i] + "@GRAD"))
      return block.unsupported("a state without a gradient");
    turns.add({.name = states[i] + "@GRAD",
               .initial = {},
               .argument = block.argument(states[i] + "@GRAD"),
               .info = lowering.info(initial),
               .next = previous[i] + "@GRAD"});
    zeroLike.push_back(lowering.bufferOf(initial));
  }
  auto before = [&]() -> LogicalResult {
    for (const char* slot : {"inputs", "outputs", "outputs@GRAD"}) {
      for (mlir::Value whole : op.inputs(slot)) {
        mlir::Value row = whole ? block.argument(pd::nameOf(whole)) : mlir::Value();
        // A gradient that nobody has written stays unset: rnn_memory_helper_grad makes zeros of it.
        if (!row || tape->values.count(pd::nameOf(whole).str()) ||
            whole.getDefiningOp<pd::UndefOp>())
          continue;
        lowering.bind(row, lowering.newBuffer(pd::nameOf(whole), rowOf(lowering.info(whole))),
                      rowOf(lowering.info(whole)));
        addCall(lowering, "dt_row", {lowering.bufferOf(whole), step}, {lowering.bufferOf(row)});
      }
    }
    return success();
  };
  auto after = [&]() -> LogicalResult {
    for (unsigned i = 0; i < op.outputCount("inputs@GRAD"); ++i) {
      mlir::Value result = op.output("inputs@GRAD", i), forward = op.input("inputs", i);
      if (!result || !lowering.needed(result)) continue;
      mlir::Value value = block.gradientInside(forward, pd::nameOf(result));
      if (!value || !forward)
        return block.unsupported("output " + pd::nameOf(result) +
                                 ", which the block does not write,");
      lowering.bind(result, lowering.newBuffer(pd::nameOf(result), lowering.info(forward)),
                    lowering.info(forward));
      addCall(lowering, "dt_set_row", {lowering.bufferOf(value), step, sequence},
              {lowering.bufferOf(result)});
    }
    addCall(lowering, "dt_loop_next", {sequence}, {step, more}, {reverse});
    return success();
  };
  auto begin = [&] {
    for (size_t i = 0; i < turns.carried().size(); ++i)
      addCall(lowering, "dt_zeros_like", {zeroLike[i]}, {turns.carried()[i].buffer});
    addCall(lowering, "dt_loop_begin", {sequence}, {step, more}, {reverse});
    return success();
  };
  if (failed(lowerGradientLoop(lowering, block, {"parameters", *tape, more}, turns, before, after,
                               begin)))
    return failure();
  for (unsigned i = 0; i < op.outputCount("initial_states@GRAD"); ++i) {
    mlir::Value result = op.output("initial_states@GRAD", i);
    if (result && i < turns.carried().size())
      lowering.bind(result, turns.carried()[i].buffer, turns.carried()[i].info);
  }
  return success();
}

}  // namespace dtranspile::lower
