// The turns of a loop: what they hand on from one to the next, and what their gradients add up to.
// Loop-carried values have one buffer, copied into before the loop and at the end of every turn;
// lists are updated in place.
#pragma once

#include <string>
#include <vector>

#include "compiler/lower/block_nodes.h"
#include "compiler/lower/block_op.h"
#include "compiler/lower/lowering.h"
#include "compiler/lower/tape.h"

namespace dtranspile::lower {

// A value that turns hand on.
struct Carried {
  std::string name;
  mlir::Value initial;   // null: none, or nobody has written it
  mlir::Value argument;  // of the region
  pd::TensorInfo info;
  std::string next;  // name of the value handed on; empty: `name`
  int buffer = -1;   // when the turns have been lowered
};

class Turns {
 public:
  Turns(Lowering& lowering, const BlockOp& op) : lowering_(lowering), op_(op) {}

  void add(Carried value) { carried_.push_back(std::move(value)); }
  // The captured names that the block writes.
  void addCaptured();
  const std::vector<Carried>& carried() const { return carried_; }

  // Nodes of one turn: `before` its block, `after` it, then what is handed on goes to its place.
  llvm::LogicalResult lower(std::vector<Node>& body, Part before, Part after);
  // In front of the loop: the initial values go to their places.
  void initialise() const;
  // What results of these names are when the loop has ended.
  void bindResults(mlir::ValueRange results) const;

 private:
  void recall();
  void bindArguments();
  llvm::LogicalResult widen(bool& changed);
  mlir::Value handedOn(const Carried& value) const {
    return op_.inside(value.next.empty() ? value.name : value.next);
  }

  Lowering& lowering_;
  const BlockOp& op_;
  std::vector<Carried> carried_;
};

// A gradient loop: while `more`, a turn gets what it reads from `lists`. Gradients of the arguments
// of `slot`, which every turn reads, are summed over the turns. `begin` goes in front of the loop.
struct GradientLoop {
  const char* slot;
  const Tape& lists;
  int more;
};
llvm::LogicalResult lowerGradientLoop(Lowering& lowering, const BlockOp& op,
                                      const GradientLoop& loop, Turns& turns, Part before,
                                      Part after, Part begin);

}  // namespace dtranspile::lower
