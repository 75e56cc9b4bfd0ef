// while and while_grad, and what loops share: carried values, the tape, sums over turns.
#include "compiler/lower/block_lowering.h"

namespace dtranspile::lower {

using llvm::failure;
using llvm::LogicalResult;
using llvm::StringRef;
using llvm::success;

// Captured names that the block writes.
void BlockLowering::addCaptured(std::vector<Carried>& carried) {
  unsigned index = 0;
  for (const std::string& name : names("captures")) {
    mlir::Value operand = op_.input("$capture", index), argument = block().getArgument(index);
    ++index;
    if (!isWritten(name)) continue;
    const bool written = !operand.getDefiningOp<pd::UndefOp>() || isList(operand);
    carried.push_back({.name = name,
                       .initial = written ? operand : mlir::Value(),
                       .argument = argument,
                       .info = info(operand),
                       .next = ""});
  }
}

// Lists keep their buffer; tensors get one of their own; what is only read is read where it is.
void BlockLowering::bindArguments(std::vector<Carried>& carried) {
  bindCaptures();
  for (Carried& c : carried) {
    c.buffer = c.info.kind == pd::Kind::TensorArray && c.initial ? bufferOf(c.initial)
                                                                 : fresh(c.name, c.info);
    if (c.argument) bind(c.argument, c.buffer, c.info);
  }
}

LogicalResult BlockLowering::widen(std::vector<Carried>& carried, bool& changed) {
  for (Carried& c : carried) {
    mlir::Value next = inside(c.next.empty() ? c.name : c.next);
    if (!next) return unsupported("variable " + c.name + ", which the block does not write,");
    const pd::TensorInfo& handed = info(next);
    if (!c.initial && (c.info.dims != handed.dims || c.info.dtype != handed.dtype)) {
      changed = true;
      c.info = handed;
    }
    if (failed(merge(c.info, handed, c.name, changed))) return failure();
  }
  return success();
}

// What was unknown when the loop was lowered before is so from the start: within another loop it is
// lowered for each time that one is, and would find out again each time.
void BlockLowering::recall(std::vector<Carried>& carried) const {
  for (auto [c, known] : llvm::zip(carried, program_.handedOn(op_.operation()))) {
    const bool alike = c.info.kind == known.kind && c.info.dtype == known.dtype &&
                       c.info.dims.size() == known.dims.size();
    for (size_t d = 0; alike && d < known.dims.size(); ++d)
      if (known.dims[d] < 0) c.info.dims[d] = -1;
  }
}

// Extents that change from turn to turn are found by lowering the block again with them unknown;
// they can only become fewer.
LogicalResult BlockLowering::lowerTurns(std::vector<Carried>& carried, std::vector<Node>& body,
                                        Part before, Part after) {
  recall(carried);
  for (bool changed = true; changed;) {
    body.clear();
    program_.forget(op_.operation());
    bindArguments(carried);
    if (failed(lowerBody(body, before, [&] { return changed = false, widen(carried, changed); })))
      return failure();
  }
  std::vector<pd::TensorInfo>& known = program_.handedOn(op_.operation());
  known.clear();
  for (const Carried& c : carried) known.push_back(c.info);
  const Lowering::Into into(program_, body);
  if (failed(after())) return failure();
  return moveCarried(carried), success();
}

// What results of these names are when the loop has ended.
void BlockLowering::bindCarried(const std::vector<Carried>& carried, mlir::ValueRange results) {
  llvm::StringMap<const Carried*> byName;
  for (const Carried& c : carried) byName[c.name] = &c;
  for (mlir::Value result : results)
    if (const Carried* c = result ? byName.lookup(pd::nameOf(result)) : nullptr)
      bind(result, c->buffer, c->info);
}

void BlockLowering::initialise(const std::vector<Carried>& carried) {
  std::vector<std::pair<int, int>> moves;
  for (const Carried& c : carried) {
    if (c.initial) moves.emplace_back(bufferOf(c.initial), c.buffer);
    // Nobody has written it: a gradient of nothing is zero, and no turn reads what the memory held
    // before.
    else if (program_.buffer(c.buffer).space != Space::Value)
      call("dt_zeros_like", {c.buffer}, {c.buffer});
  }
  program_.copyAll(moves);
}

void BlockLowering::moveCarried(const std::vector<Carried>& carried) {
  std::vector<std::pair<int, int>> moves;
  for (const Carried& c : carried)
    moves.emplace_back(bufferOf(inside(c.next.empty() ? c.name : c.next)), c.buffer);
  program_.copyAll(moves);
}

LogicalResult BlockLowering::lowerWhile() {
  mlir::Value condition = op_.input("Condition");
  if (!condition) return unsupported("an absent Condition");
  std::vector<Carried> carried;
  addCaptured(carried);
  std::vector<Node> body;
  Tape lists;
  auto after = [&] {
    if (isTapeRead("StepScopes")) lists = pushTape(savedNow());
    return success();
  };
  if (failed(lowerTurns(carried, body, [] { return success(); }, after))) return failure();
  Tape::Item more{"turns", info(condition), bufferOf(condition)};
  for (const Carried& c : carried) {
    if (c.name == pd::nameOf(condition)) more = {"turns", c.info, c.buffer};
  }
  initialise(carried);
  if (isTapeRead("StepScopes")) {
    lists.turns = {more.name, more.info, list(more.name), 1};
    clearTape(lists);
    {
      const Lowering::Into into(program_, body);
      call("dt_list_push", {more.buffer}, {lists.turns.buffer});
    }
    program_.tapes()[op_.output("StepScopes")] = lists;
  }
  addLoop(more.buffer, std::move(body));
  bindCarried(carried, op_.operation()->getResults());
  for (mlir::OpResult result : op_.operation()->getResults()) {
    if (!llvm::isa<pd::TapeType>(result.getType()) && program_.needed(result) &&
        !program_.hasBuffer(result)) {
      return unsupported("output " + pd::nameOf(result) + ", which the block does not write,");
    }
  }
  return success();
}

LogicalResult BlockLowering::findSums(StringRef forwardSlot, StringRef resultSlot,
                                      const std::vector<Carried>& carried, std::vector<Sum>& sums) {
  llvm::StringSet<> names;
  llvm::DenseSet<mlir::Value> arguments;
  for (const Carried& c : carried) {
    names.insert(c.name);
    arguments.insert(c.argument);
  }
  for (unsigned i = 0; i < op_.outputCount(resultSlot); ++i) {
    mlir::Value result = op_.output(resultSlot, i), forward = op_.input(forwardSlot, i);
    if (!result || !program_.needed(result)) continue;
    mlir::Value value = gradientInside(forward, pd::nameOf(result));
    if (!value || !forward)
      return unsupported("output " + pd::nameOf(result) + ", which the block does not write,");
    const bool handedOn = names.contains(pd::nameOf(result)) || arguments.contains(value);
    if (!handedOn) sums.push_back({result, forward, value});
  }
  return success();
}

// A sum lives in a value of its own: a turn's term may have any extents until it has been added.
void BlockLowering::startSums(std::vector<Sum>& sums) {
  for (Sum& sum : sums) {
    const pd::TensorInfo& form = info(sum.forward);
    Buffer buffer;
    buffer.name = pd::nameOf(sum.result).str();
    buffer.space = Space::Value;
    buffer.dtype = form.dtype;
    buffer.dims.assign(form.dims.begin(), form.dims.end());
    buffer.lodLevel = form.lodLevel;
    buffer.kind = isList(sum.forward)                              ? ValueKind::List
                  : info(sum.value).kind == pd::Kind::SelectedRows ? ValueKind::Rows
                                                                   : ValueKind::Tensor;
    sum.buffer = program_.plan().addBuffer(std::move(buffer));
    call("dt_zeros_like", {bufferOf(sum.forward)}, {sum.buffer});
  }
}

void BlockLowering::addSums(const std::vector<Sum>& sums) {
  for (const Sum& sum : sums) call("dt_accumulate", {bufferOf(sum.value)}, {sum.buffer});
}

void BlockLowering::finishSums(const std::vector<Sum>& sums) {
  for (const Sum& sum : sums) {
    const pd::TensorInfo& forward = info(sum.forward);
    if (isRunTimeValue(forward)) {
      bind(sum.result, sum.buffer, forward);
      continue;
    }
    const int buffer = fresh(pd::nameOf(sum.result), forward);
    program_.copy(sum.buffer, buffer);
    bind(sum.result, buffer, forward);
  }
}

LogicalResult BlockLowering::lowerGradientLoop(const char* slot, const Tape& lists,
                                               std::vector<Carried>& carried, int more, Part before,
                                               Part after, Part begin) {
  std::vector<Sum> sums;
  std::vector<Node> body, *outer = &program_.body();
  auto beginTurn = [&]() -> LogicalResult {
    if (failed(before())) return failure();
    bindLocals(popTape(lists));
    return success();
  };
  auto endTurn = [&]() -> LogicalResult {
    if (failed(findSums(slot, std::string(slot) + "@GRAD", carried, sums))) return failure();
    {
      const Lowering::Into into(program_, *outer);
      startSums(sums);
    }
    addSums(sums);
    return after();
  };
  if (failed(lowerTurns(carried, body, beginTurn, endTurn)) || failed(begin())) return failure();
  addLoop(more, std::move(body));
  finishSums(sums);
  return success();
}

LogicalResult BlockLowering::lowerWhileGrad() {
  std::optional<Tape> tape = tapeOf("StepScopes");
  if (!tape || tape->turns.buffer < 0) return unsupported("a gradient without its forward loop");
  std::vector<Carried> carried;
  addCaptured(carried);
  // Gradients of the loop's outputs under the names that the block gives them: lists, which it
  // reads and updates.
  const std::vector<std::string> inner = op_.getStrings("original_output_grad");
  llvm::StringSet<> captures;
  for (const std::string& name : names("captures")) captures.insert(name);
  for (size_t i = 0; i < inner.size(); ++i) {
    mlir::Value argument = this->argument(inner[i]),
                operand = op_.input("Out@GRAD", static_cast<unsigned>(i));
    const bool captured = captures.contains(inner[i]);
    if (!argument || !operand || captured || tape->values.count(inner[i])) continue;
    carried.push_back({.name = inner[i],
                       .initial = operand,
                       .argument = argument,
                       .info = info(operand),
                       .next = ""});
  }
  const int turns = tape->turns.buffer, more = flag();
  auto anyLeft = [&] { return call("dt_list_any", {turns}, {more}), success(); };
  auto begin = [&] { return initialise(carried), anyLeft(); };
  if (failed(
          lowerGradientLoop("X", *tape, carried, more, [] { return success(); }, anyLeft, begin)))
    return failure();
  bindCarried(carried, op_.operation()->getResults());
  return success();
}

}  // namespace dtranspile::lower
