// Lowering rules: family `control_flow`.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {

RuleTable controlFlowRules() { return {}; }

}  // namespace dtranspile::lower
