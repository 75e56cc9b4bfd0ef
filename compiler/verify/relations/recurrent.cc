// Relation rules: family `recurrent`. Internal tensors are sorted by length over the batch, so only the parts reading goes on. Notation: rule.h.
#include "compiler/verify/relations/families.h"
#include "compiler/verify/relations/kinds.h"

namespace dtranspile::verify {
namespace {

const RuleRow kRows[] = {
    {"lstm", wholeOnly, "Input, H0, C0, Weight, Bias -> Hidden, Cell, BatchGate, BatchCellPreAct"},
    {"lstm_grad", wholeOnly,
     "Hidden@GRAD:l, BatchCellPreAct, BatchGate, Bias, C0, Cell, H0, Hidden, Input, Weight -> "
     "Bias@GRAD, C0@GRAD, H0@GRAD, Input@GRAD, Weight@GRAD"},
    {"gru", wholeOnly, "Input, H0, Weight, Bias -> BatchGate, BatchResetHiddenPrev, BatchHidden, Hidden"},
    {"gru_grad", wholeOnly,
     "Hidden@GRAD:l, BatchGate, BatchHidden, BatchResetHiddenPrev, Bias, H0, Hidden, Input, Weight -> "
     "Bias@GRAD, H0@GRAD, Input@GRAD, Weight@GRAD"},
};

}  // namespace

llvm::ArrayRef<RuleRow> recurrentRules() { return kRows; }

}  // namespace dtranspile::verify
