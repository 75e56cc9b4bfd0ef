// Lowering rules: family `host`.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {

RuleTable hostRules() { return {}; }

}  // namespace dtranspile::lower
