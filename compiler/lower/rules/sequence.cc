// Lowering rules: family `sequence`.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {

RuleTable sequenceRules() { return {}; }

}  // namespace dtranspile::lower
