// Relation rules: family `amp`. Predicates of the update must be equal on all ranks. Notation:
// rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

const RuleRow kRows[] = {
    {"check_finite_and_unscale", wholeOnly, "X, Scale -> Out, FoundInfinite"},
    {"update_loss_scaling", wholeOnly,
     "X, FoundInfinite, PrevLossScaling, InGoodSteps, InBadSteps, StopUpdate, $LossScaling -> Out, "
     "LossScaling, OutGoodSteps, OutBadSteps",
     "incr_every_n_steps, decr_every_n_nan_or_inf, incr_ratio, decr_ratio, "
     "stop_update"},
};

}  // namespace

llvm::ArrayRef<RuleRow> ampRules() { return kRows; }

}  // namespace dtranspile::verify
