// What forward blocks keep for their gradients (tape.h), and how gradients get it back. Of a loop
// the tape is a list per saved value: the forward loop pushes at the end of a turn, the gradient
// loop pops at the beginning; the tape of a block within a loop is pushed likewise, list by list.
#pragma once

#include <optional>

#include "compiler/lower/block_op.h"
#include "compiler/lower/lowering.h"
#include "compiler/lower/tape.h"

namespace dtranspile::lower {

// Whether a gradient reads what the op keeps in `slot`.
bool isTapeRead(Lowering& lowering, const BlockOp& op, llvm::StringRef slot);

// The saved values of the region, in their buffers: what it yields after the names that it writes.
Tape savedNow(Lowering& lowering, const BlockOp& op);

// At the end of a turn: everything goes onto lists, which are returned.
Tape pushTape(Lowering& lowering, Tape now);
void clearTape(Lowering& lowering, Tape& lists);

// What the forward op of a gradient has kept; nothing where it was not lowered.
std::optional<Tape> tapeOf(Lowering& lowering, const BlockOp& op, llvm::StringRef slot);

// At the beginning of a turn of the gradient: the last item of every list into a buffer of this
// block.
Tape popTape(Lowering& lowering, Tape lists);

// Locals of the block are what was saved of them. Those that nobody has bound or saved have never
// been written.
void bindLocals(Lowering& lowering, const BlockOp& op, const Tape& tape);

}  // namespace dtranspile::lower
