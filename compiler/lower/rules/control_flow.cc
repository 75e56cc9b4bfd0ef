// Lowering rules: family `control_flow`. Ops with blocks are lowered by block_lowering.h.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

const LoweringRule kRules[] = {
    callRule("select_input", "dt_select_input"),
    callRule("select_output", "dt_select_output"),
    callRule("assert", "dt_assert"),
};

}  // namespace

RuleTable controlFlowRules() { return kRules; }

}  // namespace dtranspile::lower
