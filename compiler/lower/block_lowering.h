// Ops that own blocks, to loop and branch nodes of the plan: while, conditional_block, recurrent
// and their gradients. Called by program_lowering.cc; the regions are described in
// docs/dialects/pd.md, "Block ops", what becomes of them in docs/lowering.md. The parts: what an op
// says (block_op.h), what turns of a loop hand on and add up (turns.h), what is kept for gradients
// (block_tape.h), buffers and nodes (block_nodes.h).
#pragma once

#include "compiler/lower/block_op.h"
#include "compiler/lower/lowering.h"
#include "dialects/pd/op_view.h"
#include "llvm/ADT/StringRef.h"

namespace dtranspile::lower {

// Whether the op type is lowered here.
bool isBlockOp(llvm::StringRef type);

// Whether the op type runs natively: it has a rule (rules.h), or it is lowered here. What
// `dtranspile ops` and the tests ask.
bool isNative(llvm::StringRef type);

llvm::LogicalResult lowerBlockOp(Lowering& lowering, pd::OpView op);

// Of one kind each: branch_lowering.cc, loop_lowering.cc, recurrent_lowering.cc.
llvm::LogicalResult lowerBranch(Lowering& lowering, const BlockOp& op);
llvm::LogicalResult lowerBranchGrad(Lowering& lowering, const BlockOp& op);
llvm::LogicalResult lowerWhile(Lowering& lowering, const BlockOp& op);
llvm::LogicalResult lowerWhileGrad(Lowering& lowering, const BlockOp& op);
llvm::LogicalResult lowerRecurrent(Lowering& lowering, const BlockOp& op);
llvm::LogicalResult lowerRecurrentGrad(Lowering& lowering, const BlockOp& op);

}  // namespace dtranspile::lower
