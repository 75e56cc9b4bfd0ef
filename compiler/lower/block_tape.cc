#include "compiler/lower/block_tape.h"

#include "compiler/lower/block_nodes.h"

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

bool isTapeRead(Lowering& lowering, const BlockOp& op, StringRef slot) {
  mlir::Value result = op.op().output(slot);
  return result && lowering.needed(result) && !result.use_empty();
}

// What the block hands its gradient in this turn: values, and tapes of the blocks inside of it.
Tape savedNow(Lowering& lowering, const BlockOp& op) {
  Tape tape;
  mlir::OperandRange yielded =
      op.block().getTerminator()->getOperands().drop_front(op.names("written").size());
  for (const auto& [name, value] : llvm::zip(op.names("saved"), yielded)) {
    auto kept = lowering.tapes().find(value);
    if (kept != lowering.tapes().end()) tape.inner[name] = kept->second;
    else if (!llvm::isa<pd::TapeType>(value.getType()))
      tape.values[name] = {name, lowering.info(value), lowering.bufferOf(value)};
  }
  return tape;
}

// Each item goes to the end of a list of its own; a block within a loop makes lists of lists
// (`lists` counts how deep).
Tape pushTape(Lowering& lowering, Tape now) {
  for (Tape::Item* item : now.items()) {
    const int to = newList(lowering, item->name + ".tape");
    addCall(lowering, "dt_list_push", {item->buffer}, {to});
    item->buffer = to;
    ++item->lists;
  }
  return now;
}

void clearTape(Lowering& lowering, Tape& lists) {
  for (Tape::Item* item : lists.items()) addCall(lowering, "dt_list_clear", {}, {item->buffer});
}

std::optional<Tape> tapeOf(Lowering& lowering, const BlockOp& op, StringRef slot) {
  mlir::Value value = op.op().input(slot);
  auto it = value ? lowering.tapes().find(value) : lowering.tapes().end();
  return it == lowering.tapes().end() ? std::nullopt : std::optional(it->second);
}

Tape popTape(Lowering& lowering, Tape lists) {
  for (Tape::Item* item : lists.items()) {
    const int to = --item->lists > 0 ? newList(lowering, item->name)
                                     : lowering.newBuffer(item->name, item->info);
    addCall(lowering, "dt_list_pop", {}, {item->buffer, to});
    item->buffer = to;
  }
  return lists;
}

void bindLocals(Lowering& lowering, const BlockOp& op, const Tape& tape) {
  for (const std::string& name : op.names("locals")) {
    mlir::Value argument = op.argument(name);
    if (auto saved = tape.values.find(name); saved != tape.values.end())
      lowering.bind(argument, saved->second.buffer, saved->second.info);
    else if (auto kept = tape.inner.find(name); kept != tape.inner.end())
      lowering.tapes()[argument] = kept->second;
    else if (!lowering.findInfo(argument))
      lowering.info(argument) = pd::declaredInfo(argument.getType());
  }
}

}  // namespace dtranspile::lower
