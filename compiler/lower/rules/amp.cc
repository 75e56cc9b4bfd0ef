// Lowering rules: family `amp`: loss scaling over lists of gradients (Micikevicius 2018).
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

const LoweringRule kRules[] = {
    callRule("check_finite_and_unscale",
             "dt_check_finite_and_unscale(X, Scale) -> Out, FoundInfinite"),
    callRule("update_loss_scaling",
             "dt_update_loss_scaling(X, FoundInfinite, PrevLossScaling, InGoodSteps, InBadSteps, "
             "StopUpdate, $LossScaling;"
             "incr_every_n_steps, decr_every_n_nan_or_inf, incr_ratio, decr_ratio, stop_update) -> "
             "Out, LossScaling, OutGoodSteps, OutBadSteps"),
};

}  // namespace

RuleTable ampRules() { return kRules; }

}  // namespace dtranspile::lower
