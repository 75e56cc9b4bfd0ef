// Rules that rows of several families share. Each reads the clauses of its row (rule.h).
#pragma once

#include "compiler/analysis/relations/rule.h"

namespace dtranspile::verify {

// Element by element with broadcasting; gradients of broadcast operands sum over the broadcast
// dims. Attribute `axis` aligns as in the framework's elementwise ops.
void pointwise(RuleContext& context);
// Element by element along all dims but one, which must be whole: attribute `axis`, `dim` or
// `Axis`, else the last. Operands and results may lack it. With `flatten` or `asvector` all must be
// whole.
void rowwise(RuleContext& context);
// By the labels of the row, `Slot[…]`, a character per dim: a letter is a label; `*` a dim that
// must be whole; `_` all dims that the others leave, which correspond from the right. What has
// fewer dims has the last of them; a dim of extent 1 is broadcast. Labels that a result lacks are
// summed over.
void labelled(RuleContext& context);
// Dim 0 is the batch or the rows of sequences; all others must be whole, and so must parameters.
// Summed outputs have no batch.
void batchwise(RuleContext& context);
// The first clause as batchwise, the others as wholeOnly: counts and what is made of them.
void batchThenWhole(RuleContext& context);
// All operands must be whole: constants, and ops that couple all dims (of data axes only the parts
// reading goes on).
void wholeOnly(RuleContext& context);

// "pointwise" …; "own" for the rule of one op (`dtranspile ops`).
const char* kindOf(Rule rule);

// Pieces that the rules of single ops use.

// What batchwise and wholeOnly do, of some clauses.
void giveBatchwise(RuleContext& context, llvm::ArrayRef<Clause> clauses);
void giveWhole(RuleContext& context, llvm::ArrayRef<Clause> clauses);

// An op that draws random numbers for `data`: independent draws for the parts of a batch form one
// draw for the whole; equal ones do not, and different ones for equal data make replicas differ
// (random.cc).
void demandStreams(RuleContext& context, mlir::Value data);

// A tensor that an op makes of a shape, given by numbers or by tensors; one of whose extents is the
// batch of another tensor (creation.cc).
Form createdForm(RuleContext& context, mlir::Value out);
Form likeForm(RuleContext& context);

// The labels of `value` in a frame of rank `frameRank` and extents `frame`, aligned at `at` (dim of
// the frame where its dim 0 stands).
Labels alignedLabels(mlir::Value value, llvm::ArrayRef<int64_t> frame, int at);
// Dim 0 labelled, all others whole.
Labels batchLabels(mlir::Value value);
// The labels of a tensor all of whose dims must be whole.
Labels wholeLabels(mlir::Value value);
// Terms for all present operands of a clause, labelled by `labels`; parameters are whole.
Form formOf(RuleContext& context, const Clause& clause,
            llvm::function_ref<Labels(mlir::Value)> labels);
// Applies a form to every argument of every output slot of a clause, with the labels of that
// result; summed ones are whole.
void giveResults(RuleContext& context, const Clause& clause, Form form,
                 llvm::function_ref<Labels(mlir::Value)> labels);
// `axis`, where negative ones count from the end.
int normalAxis(int64_t axis, int rank);

}  // namespace dtranspile::verify
