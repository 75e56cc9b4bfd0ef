// Relation rules: family `amp`. Predicates of the update must be equal on all ranks. Notation:
// rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

const RuleRow kRows[] = {
    {"check_finite_and_unscale", wholeOnly, "X, Scale -> Out, FoundInfinite"},
    {"update_loss_scaling", wholeOnly,
     "X, FoundInfinite, PrevLossScaling, InGoodSteps, InBadSteps -> Out, LossScaling, "
     "OutGoodSteps, OutBadSteps"},
};

}  // namespace

llvm::ArrayRef<RuleRow> ampRules() { return kRows; }

}  // namespace dtranspile::verify
