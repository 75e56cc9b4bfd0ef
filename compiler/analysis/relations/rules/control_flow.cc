// Relation rules: family `control_flow`. Block ops are analysed as a whole (framework.cc); here are
// the ops around them. Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

const RuleRow kRows[] = {
    {"select_input", pointwise, "X:l, Mask:w => Out"},
    {"select_output", pointwise, "X:l, $Out:l, Mask:w => Out"},
};

}  // namespace

llvm::ArrayRef<RuleRow> controlFlowRules() { return kRows; }

}  // namespace dtranspile::verify
