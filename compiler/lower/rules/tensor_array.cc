// Lowering rules: family `tensor_array`.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {

RuleTable tensorArrayRules() { return {}; }

}  // namespace dtranspile::lower
