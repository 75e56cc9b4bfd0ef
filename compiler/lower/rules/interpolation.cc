// Lowering rules: family `interpolation`.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {

RuleTable interpolationRules() { return {}; }

}  // namespace dtranspile::lower
