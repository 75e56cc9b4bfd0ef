// Lowering rules: family `control_flow`. Ops with blocks are lowered by block_lowering.h.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

const LoweringRule kRules[] = {
    callRule("select_input", "dt_select_input(X, Mask) -> Out"),
    callRule("select_output", "dt_select_output(X, Mask) -> Out"),
    callRule("assert", "dt_assert(Cond, Data; summarize) ->"),
};

}  // namespace

RuleTable controlFlowRules() { return kRules; }

}  // namespace dtranspile::lower
