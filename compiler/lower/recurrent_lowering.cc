// recurrent (StaticRNN) and its gradient: a loop over the leading extent of the inputs. Inside the
// block a sequence input is one row, `ex_states` are the `states` of the turn before, an output is
// row by row what the block computes. The gradient runs the turns backwards: the gradient of
// `states` is that of the next turn's `ex_states`.
#include "compiler/lower/block_lowering.h"

namespace dtranspile::lower {

using llvm::failure;
using llvm::LogicalResult;
using llvm::StringRef;
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

LogicalResult BlockLowering::lowerRecurrent() {
  mlir::Value first = op_.input("inputs");
  if (!first || info(first).dims.empty())
    return unsupported("a recurrent block without a sequence input");
  if (llvm::is_contained(op_.inputs("inputs"), mlir::Value()))
    return unsupported("an absent sequence input");
  const int step = counter(), more = flag(), sequence = bufferOf(first);
  const int64_t reverse = op_.getBool("reverse");
  const std::vector<std::string> previous = op_.getStrings("ex_states"),
                                 states = op_.getStrings("states");
  std::vector<Carried> carried;
  addCaptured(carried);
  for (size_t i = 0; i < previous.size() && i < states.size(); ++i) {
    mlir::Value initial = op_.input("initial_states", static_cast<unsigned>(i));
    if (!initial) return unsupported("an absent initial state");
    carried.push_back({.name = previous[i],
                       .initial = initial,
                       .argument = argument(previous[i]),
                       .info = info(initial),
                       .next = states[i]});
  }
  auto before = [&]() -> LogicalResult {
    for (mlir::Value input : op_.inputs("inputs")) {
      mlir::Value row = argument(pd::nameOf(input));
      if (!row) continue;
      bind(row, fresh(pd::nameOf(input), rowOf(info(input))), rowOf(info(input)));
      call("dt_row", {bufferOf(input), step}, {bufferOf(row)});
    }
    return success();
  };
  Tape lists;
  auto after = [&]() -> LogicalResult {
    for (unsigned i = 0; i < op_.outputCount("outputs"); ++i) {
      mlir::Value result = op_.output("outputs", i);
      mlir::Value value = result ? inside(op_.outputName("outputs", i)) : mlir::Value();
      if (!value)
        return unsupported("output " + op_.outputName("outputs", i) +
                           ", which the block does not write,");
      const pd::TensorInfo stacked = stackOf(info(value), info(first).dims[0]);
      bind(result, fresh(op_.outputName("outputs", i), stacked), stacked);
      call("dt_set_row", {bufferOf(value), step, sequence}, {bufferOf(result)});
    }
    if (isTapeRead("step_scopes")) lists = pushTape(savedNow());
    call("dt_loop_next", {sequence}, {step, more}, {reverse});
    return success();
  };
  std::vector<Node> body;
  if (failed(lowerTurns(carried, body, before, after))) return failure();
  initialise(carried);
  if (isTapeRead("step_scopes")) {
    clearTape(lists);
    program_.tapes()[op_.output("step_scopes")] = lists;
  }
  call("dt_loop_begin", {sequence}, {step, more}, {reverse});
  addLoop(more, std::move(body));
  bindCarried(carried, op_.outputs("$written"));
  return success();
}

LogicalResult BlockLowering::lowerRecurrentGrad() {
  std::optional<Tape> tape = tapeOf("step_scopes");
  mlir::Value first = op_.input("inputs");
  if (!tape || !first) return unsupported("a gradient without its forward block");
  const int step = counter(), more = flag(), sequence = bufferOf(first);
  const int64_t reverse = !op_.getBool("reverse");
  const std::vector<std::string> previous = op_.getStrings("ex_states"),
                                 states = op_.getStrings("states");
  std::vector<Carried> carried;
  std::vector<int> zeroLike;
  for (size_t i = 0; i < previous.size() && i < states.size(); ++i) {
    mlir::Value initial = op_.input("initial_states", static_cast<unsigned>(i));
    if (!initial) return unsupported("an absent initial state");
    if (!inside(previous[i] + "@GRAD")) return unsupported("a state without a gradient");
    carried.push_back({.name = states[i] + "@GRAD",
                       .initial = {},
                       .argument = argument(states[i] + "@GRAD"),
                       .info = info(initial),
                       .next = previous[i] + "@GRAD"});
    zeroLike.push_back(bufferOf(initial));
  }
  auto before = [&]() -> LogicalResult {
    for (const char* slot : {"inputs", "outputs", "outputs@GRAD"}) {
      for (mlir::Value whole : op_.inputs(slot)) {
        mlir::Value row = whole ? argument(pd::nameOf(whole)) : mlir::Value();
        // A gradient that nobody has written stays unset: rnn_memory_helper_grad makes zeros of it.
        if (!row || tape->values.count(pd::nameOf(whole).str()) ||
            whole.getDefiningOp<pd::UndefOp>())
          continue;
        bind(row, fresh(pd::nameOf(whole), rowOf(info(whole))), rowOf(info(whole)));
        call("dt_row", {bufferOf(whole), step}, {bufferOf(row)});
      }
    }
    return success();
  };
  auto after = [&]() -> LogicalResult {
    for (unsigned i = 0; i < op_.outputCount("inputs@GRAD"); ++i) {
      mlir::Value result = op_.output("inputs@GRAD", i), forward = op_.input("inputs", i);
      if (!result || !program_.needed(result)) continue;
      mlir::Value value = gradientInside(forward, pd::nameOf(result));
      if (!value || !forward)
        return unsupported("output " + pd::nameOf(result) + ", which the block does not write,");
      bind(result, fresh(pd::nameOf(result), info(forward)), info(forward));
      call("dt_set_row", {bufferOf(value), step, sequence}, {bufferOf(result)});
    }
    call("dt_loop_next", {sequence}, {step, more}, {reverse});
    return success();
  };
  auto begin = [&] {
    for (size_t i = 0; i < carried.size(); ++i)
      call("dt_zeros_like", {zeroLike[i]}, {carried[i].buffer});
    call("dt_loop_begin", {sequence}, {step, more}, {reverse});
    return success();
  };
  if (failed(lowerGradientLoop("parameters", *tape, carried, more, before, after, begin)))
    return failure();
  for (unsigned i = 0; i < op_.outputCount("initial_states@GRAD"); ++i) {
    mlir::Value result = op_.output("initial_states@GRAD", i);
    if (result && i < carried.size()) bind(result, carried[i].buffer, carried[i].info);
  }
  return success();
}

}  // namespace dtranspile::lower
