// Lowering rules: family `detection`.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {

RuleTable detectionRules() { return {}; }

}  // namespace dtranspile::lower
