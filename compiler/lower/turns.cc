#include "compiler/lower/turns.h"

#include <utility>

#include "compiler/lower/block_tape.h"

namespace dtranspile::lower {

using llvm::failure;
using llvm::LogicalResult;
using llvm::StringRef;
using llvm::success;

void Turns::addCaptured() {
  for (auto [index, name] : llvm::enumerate(op_.names("captures"))) {
    if (!op_.isWritten(name)) continue;
    mlir::Value operand = op_.captured(index);
    const bool written = !operand.getDefiningOp<pd::UndefOp>() || isList(lowering_, operand);
    add({.name = name,
         .initial = written ? operand : mlir::Value(),
         .argument = op_.block().getArgument(static_cast<unsigned>(index)),
         .info = lowering_.info(operand),
         .next = ""});
  }
}

// Lists keep their buffer; tensors get one of their own; what is only read is read where it is.
void Turns::bindArguments() {
  bindCaptures(lowering_, op_);
  for (Carried& c : carried_) {
    c.buffer = c.info.kind == pd::Kind::TensorArray && c.initial
                   ? lowering_.bufferOf(c.initial)
                   : lowering_.newBuffer(c.name, c.info);
    if (c.argument) lowering_.bind(c.argument, c.buffer, c.info);
  }
}

// What a turn hands on may be more general than what it was handed: `changed` then, and the block
// has to be lowered again.
LogicalResult Turns::widen(bool& changed) {
  for (Carried& c : carried_) {
    mlir::Value next = handedOn(c);
    if (!next) return op_.unsupported("variable " + c.name + ", which the block does not write,");
    const pd::TensorInfo& handed = lowering_.info(next);
    if (!c.initial && (c.info.dims != handed.dims || c.info.dtype != handed.dtype)) {
      changed = true;
      c.info = handed;
    }
    if (failed(merge(op_, c.info, handed, c.name, changed))) return failure();
  }
  return success();
}

// What was unknown when the loop was lowered before is so from the start: within another loop it is
// lowered for each time that one is, and would find out again each time.
void Turns::recall() {
  for (auto [c, known] : llvm::zip(carried_, lowering_.handedOn(op_.operation()))) {
    const bool alike = c.info.kind == known.kind && c.info.dtype == known.dtype &&
                       c.info.dims.size() == known.dims.size();
    for (size_t d = 0; alike && d < known.dims.size(); ++d)
      if (known.dims[d] < 0) c.info.dims[d] = -1;
  }
}

// Extents that change from turn to turn are found by lowering the block again with them unknown;
// they can only become fewer.
LogicalResult Turns::lower(std::vector<Node>& body, Part before, Part after) {
  recall();
  for (bool changed = true; changed;) {
    body.clear();
    lowering_.forget(op_.operation());
    bindArguments();
    if (failed(lowerBody(lowering_, op_, body, before,
                         [&] { return changed = false, widen(changed); })))
      return failure();
  }
  std::vector<pd::TensorInfo>& known = lowering_.handedOn(op_.operation());
  known.clear();
  for (const Carried& c : carried_) known.push_back(c.info);
  const Lowering::Into into(lowering_, body);
  if (failed(after())) return failure();
  std::vector<std::pair<int, int>> moves;
  for (const Carried& c : carried_) moves.emplace_back(lowering_.bufferOf(handedOn(c)), c.buffer);
  return lowering_.copyAll(moves), success();
}

void Turns::bindResults(mlir::ValueRange results) const {
  llvm::StringMap<const Carried*> byName;
  for (const Carried& c : carried_) byName[c.name] = &c;
  for (mlir::Value result : results)
    if (const Carried* c = result ? byName.lookup(pd::nameOf(result)) : nullptr)
      lowering_.bind(result, c->buffer, c->info);
}

void Turns::initialise() const {
  std::vector<std::pair<int, int>> moves;
  for (const Carried& c : carried_) {
    if (c.initial) moves.emplace_back(lowering_.bufferOf(c.initial), c.buffer);
    // Nobody has written it: a gradient of nothing is zero, and no turn reads what the memory held
    // before.
    else if (lowering_.buffer(c.buffer).space != Space::Value)
      addCall(lowering_, "dt_zeros_like", {c.buffer}, {c.buffer});
  }
  lowering_.copyAll(moves);
}

namespace {

// Sums over turns: of the gradient of every forward argument that is needed and not handed on from
// turn to turn, a buffer that starts as zeros like the forward value.
class Sums {
 public:
  Sums(Lowering& lowering, const BlockOp& op) : lowering_(lowering), op_(op) {}
  LogicalResult find(StringRef slot, const std::vector<Carried>& carried);
  void start();
  void add();
  void finish();

 private:
  struct Sum {
    mlir::Value result, forward, value;
    int buffer = -1;
  };
  Lowering& lowering_;
  const BlockOp& op_;
  std::vector<Sum> sums_;
};

// Gradients of what the turns only read are added up over turns. Those of values that are carried
// come out of the last turn, and are not summed.
LogicalResult Sums::find(StringRef slot, const std::vector<Carried>& carried) {
  llvm::StringSet<> names;
  llvm::DenseSet<mlir::Value> arguments;
  for (const Carried& c : carried) {
    names.insert(c.name);
    arguments.insert(c.argument);
  }
  const std::string results = (slot + "@GRAD").str();
  for (unsigned i = 0; i < op_.op().outputCount(results); ++i) {
    mlir::Value result = op_.op().output(results, i), forward = op_.op().input(slot, i);
    if (!result || !lowering_.needed(result)) continue;
    mlir::Value value = op_.gradientInside(forward, pd::nameOf(result));
    if (!value || !forward)
      return op_.unsupported("output " + pd::nameOf(result) + ", which the block does not write,");
    const bool handedOn = names.contains(pd::nameOf(result)) || arguments.contains(value);
    if (!handedOn) sums_.push_back({result, forward, value});
  }
  return success();
}

// A sum lives in a value of its own: a turn's term may have any extents until it has been added.
void Sums::start() {
  for (Sum& sum : sums_) {
    const pd::TensorInfo& form = lowering_.info(sum.forward);
    Buffer buffer;
    buffer.name = pd::nameOf(sum.result).str();
    buffer.space = Space::Value;
    buffer.dtype = form.dtype;
    buffer.dims.assign(form.dims.begin(), form.dims.end());
    buffer.lodLevel = form.lodLevel;
    buffer.kind = isList(lowering_, sum.forward)                             ? ValueKind::List
                  : lowering_.info(sum.value).kind == pd::Kind::SelectedRows ? ValueKind::Rows
                                                                             : ValueKind::Tensor;
    sum.buffer = lowering_.plan().addBuffer(std::move(buffer));
    addCall(lowering_, "dt_zeros_like", {lowering_.bufferOf(sum.forward)}, {sum.buffer});
  }
}

void Sums::add() {
  for (const Sum& sum : sums_)
    addCall(lowering_, "dt_accumulate", {lowering_.bufferOf(sum.value)}, {sum.buffer});
}

void Sums::finish() {
  for (const Sum& sum : sums_) {
    const pd::TensorInfo& forward = lowering_.info(sum.forward);
    if (isRunTimeValue(forward)) {
      lowering_.bind(sum.result, sum.buffer, forward);
      continue;
    }
    const int buffer = lowering_.newBuffer(pd::nameOf(sum.result), forward);
    lowering_.copy(sum.buffer, buffer);
    lowering_.bind(sum.result, buffer, forward);
  }
}

}  // namespace

// Sums start where the loop stands, though they are known only when its block has been lowered.
LogicalResult lowerGradientLoop(Lowering& lowering, const BlockOp& op, const GradientLoop& loop,
                                Turns& turns, Part before, Part after, Part begin) {
  Sums sums(lowering, op);
  std::vector<Node> body, *outer = &lowering.body();
  auto beginTurn = [&]() -> LogicalResult {
    if (failed(before())) return failure();
    bindLocals(lowering, op, popTape(lowering, loop.lists));
    return success();
  };
  auto endTurn = [&]() -> LogicalResult {
    if (failed(sums.find(loop.slot, turns.carried()))) return failure();
    {
      const Lowering::Into into(lowering, *outer);
      sums.start();
    }
    sums.add();
    return after();
  };
  if (failed(turns.lower(body, beginTurn, endTurn)) || failed(begin())) return failure();
  addLoop(lowering, loop.more, std::move(body));
  sums.finish();
  return success();
}

}  // namespace dtranspile::lower
