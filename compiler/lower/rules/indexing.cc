// Lowering rules: family `indexing`.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

const LoweringRule kRules[] = {
    callRule("gather", "dt_gather(X, Index, Axis; axis) -> Out"),
    callRule("gather_grad", "dt_gather_grad(X, Index, Axis, Out@GRAD; axis) -> X@GRAD"),
};

}  // namespace

RuleTable indexingRules() { return kRules; }

}  // namespace dtranspile::lower
