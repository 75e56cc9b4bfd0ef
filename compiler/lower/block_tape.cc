// What forward blocks keep for their gradients (block_lowering.h, Tape), and how gradients get it
// back.
#include "compiler/lower/block_lowering.h"

namespace dtranspile::lower {

using llvm::StringRef;

std::vector<Tape::Item*> Tape::items() {
  std::vector<Item*> all;
  if (turns.buffer >= 0) all.push_back(&turns);
  for (auto& [name, item] : values) all.push_back(&item);
  for (auto& [name, tape] : inner) {
    for (Item* item : tape.items()) all.push_back(item);
  }
  return all;
}

// Whether a gradient reads what the op keeps in `slot`.
bool BlockLowering::isTapeRead(StringRef slot) const {
  mlir::Value result = op_.output(slot);
  return result && program_.needed(result) && !result.use_empty();
}

// The saved values of the region, in their buffers: what it yields after the names that it writes.
Tape BlockLowering::savedNow() {
  Tape tape;
  mlir::OperandRange yielded =
      block().getTerminator()->getOperands().drop_front(names("written").size());
  for (const auto& [name, value] : llvm::zip(names("saved"), yielded)) {
    auto kept = program_.tapes().find(value);
    if (kept != program_.tapes().end()) tape.inner[name] = kept->second;
    else if (!llvm::isa<pd::TapeType>(value.getType()))
      tape.values[name] = {name, info(value), bufferOf(value)};
  }
  return tape;
}

// At the end of a turn: everything goes onto lists, which are returned.
Tape BlockLowering::pushTape(Tape now) {
  for (Tape::Item* item : now.items()) {
    const int to = list(item->name + ".tape");
    call("dt_list_push", {item->buffer}, {to});
    item->buffer = to;
    ++item->lists;
  }
  return now;
}

void BlockLowering::clearTape(Tape& lists) {
  for (Tape::Item* item : lists.items()) call("dt_list_clear", {}, {item->buffer});
}

std::optional<Tape> BlockLowering::tapeOf(StringRef slot) const {
  mlir::Value value = op_.input(slot);
  auto it = value ? program_.tapes().find(value) : program_.tapes().end();
  return it == program_.tapes().end() ? std::nullopt : std::optional(it->second);
}

// At the beginning of a turn of the gradient: the last item of every list into a buffer of this
// block.
Tape BlockLowering::popTape(Tape lists) {
  for (Tape::Item* item : lists.items()) {
    const int to = --item->lists > 0 ? list(item->name) : fresh(item->name, item->info);
    call("dt_list_pop", {}, {item->buffer, to});
    item->buffer = to;
  }
  return lists;
}

// Locals that nobody has bound or saved have never been written.
void BlockLowering::bindLocals(const Tape& tape) {
  for (const std::string& name : names("locals")) {
    mlir::Value argument = this->argument(name);
    if (auto saved = tape.values.find(name); saved != tape.values.end())
      bind(argument, saved->second.buffer, saved->second.info);
    else if (auto kept = tape.inner.find(name); kept != tape.inner.end())
      program_.tapes()[argument] = kept->second;
    else if (!program_.findInfo(argument)) info(argument) = pd::declaredInfo(argument.getType());
  }
}

}  // namespace dtranspile::lower
