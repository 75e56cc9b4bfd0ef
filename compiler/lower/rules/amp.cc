// Lowering rules: family `amp`: loss scaling over lists of gradients (Micikevicius 2018).
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

const LoweringRule kRules[] = {
    callRule("check_finite_and_unscale", "dt_check_finite_and_unscale"),
    callRule("update_loss_scaling", "dt_update_loss_scaling(OldLossScaling=$LossScaling)"),
};

}  // namespace

RuleTable ampRules() { return kRules; }

}  // namespace dtranspile::lower
