// Lowering rules: family `amp`.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {

RuleTable ampRules() { return {}; }

}  // namespace dtranspile::lower
