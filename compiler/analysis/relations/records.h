// Ops that write down, for their gradients, what has no order of the batch (gates sorted by length,
// indices that count over all rows, a buffer as long as the longest sequence): a record. It is
// known in parts only. But a gradient that reads the record of a forward op is a function of what
// that op took, which has the order of the batch; so its form has the operands of the forward op in
// the place of the record.
//
// The rows of both have two clauses: what has the order of the batch; the record.
//
//   {"sequence_pool", recorded, "X -> Out; -> MaxIndex"}
//   {"sequence_pool_grad", recordedGrad, "Out@GRAD:l, X:s -> X@GRAD; MaxIndex ->"}
#pragma once

#include "compiler/analysis/relations/kinds.h"

namespace dtranspile::verify {

// Where samples lie in the operand or result in a slot.
using SlotLabels = llvm::function_ref<Labels(const pd::OpView&, llvm::StringRef, mlir::Value)>;

void giveRecorded(RuleContext& context, SlotLabels labels);
// Linear in all `:l` operands together.
void giveRecordedGrad(RuleContext& context, SlotLabels labels);

// Samples along dim 0.
void recorded(RuleContext& context);
void recordedGrad(RuleContext& context);

}  // namespace dtranspile::verify
