// Lowering rules: family `recurrent`.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {

RuleTable recurrentRules() { return {}; }

}  // namespace dtranspile::lower
