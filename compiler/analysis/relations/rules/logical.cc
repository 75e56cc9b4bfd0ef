// Relation rules: family `logical`. Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

const RuleRow kRows[] = {
    {"equal", pointwise, "X, Y -> Out", "axis"},
    {"not_equal", pointwise, "X, Y -> Out", "axis"},
    {"less_than", pointwise, "X, Y -> Out", "axis"},
    {"less_equal", pointwise, "X, Y -> Out", "axis"},
    {"greater_than", pointwise, "X, Y -> Out", "axis"},
    {"greater_equal", pointwise, "X, Y -> Out", "axis"},
    {"logical_and", pointwise, "X, Y -> Out"},
    {"logical_or", pointwise, "X, Y -> Out"},
    {"logical_xor", pointwise, "X, Y -> Out"},
    {"logical_not", pointwise, "X -> Out"},
    {"isfinite", wholeOnly, "X -> Out"},
    {"isfinite_v2", pointwise, "X:m -> Out"},
    {"isnan_v2", pointwise, "X:m -> Out"},
    {"isinf_v2", pointwise, "X:m -> Out"},
};

}  // namespace

llvm::ArrayRef<RuleRow> logicalRules() { return kRows; }

}  // namespace dtranspile::verify
