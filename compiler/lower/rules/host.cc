// Lowering rules: family `host`.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {

namespace {

const LoweringRule kRules[] = {
    callRule("print", "dt_print"),
};

}  // namespace

RuleTable hostRules() { return kRules; }

}  // namespace dtranspile::lower
