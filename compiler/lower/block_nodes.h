// Buffers and nodes that the lowerings of block ops make.
#pragma once

#include <string>
#include <vector>

#include "compiler/lower/block_op.h"
#include "compiler/lower/lowering.h"
#include "dialects/pd/infer.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace dtranspile::lower {

// New buffers: a bool of one element, an int64 of one element, an empty list.
int newFlag(Lowering& lowering);
int newCounter(Lowering& lowering);
int newList(Lowering& lowering, llvm::StringRef name);

inline bool isList(Lowering& lowering, mlir::Value value) {
  return lowering.info(value).kind == pd::Kind::TensorArray;
}

// A library call with a slot per buffer, whose outputs are updated, and integer attributes.
void addCall(Lowering& lowering, llvm::StringRef function, const std::vector<int>& inputs,
             const std::vector<int>& outputs, const std::vector<int64_t>& ints = {});
// The same with all inputs in one slot.
void addCallOnList(Lowering& lowering, llvm::StringRef function, const std::vector<int>& inputs,
                   int output);
void addBranch(Lowering& lowering, int condition, std::vector<Node> then,
               std::vector<Node> otherwise);
void addLoop(Lowering& lowering, int condition, std::vector<Node> body);

// Where nothing else is said, the region reads outer values where they are.
void bindCaptures(Lowering& lowering, const BlockOp& op);

// Nodes of the block to `body`, with what `before` and `after` add around them.
using Part = llvm::function_ref<llvm::LogicalResult()>;
llvm::LogicalResult lowerBody(Lowering& lowering, const BlockOp& op, std::vector<Node>& body,
                              Part before, Part after);

// What a variable may be that is `into` on one way and `other` on another: extents that differ
// become unknown, and `changed` is set. A scalar may be [] here and [1] there; it is [1] from then
// on. A diagnostic of the op where kinds, types or ranks differ.
llvm::LogicalResult merge(const BlockOp& op, pd::TensorInfo& into, const pd::TensorInfo& other,
                          llvm::StringRef name, bool& changed);

}  // namespace dtranspile::lower
