// Relation rules: family `logical`. Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

// One answer for all elements: true where any is. (No state stands for "all are": isfinite.)
void anyOf(RuleContext& context) {
  mlir::Value x = context.op().input("X"), out = context.op().output("Out");
  if (!x || !out) return;
  Form form;
  form.terms.push_back({x, ownLabels(x), Use::Sign});
  form.result = wholeLabels(out);
  form.fold = Fold::Or;
  context.result("Out", form);
}

const RuleRow kRows[] = {
    {"equal", pointwise, "X, Y -> Out", "axis"},
    {"not_equal", pointwise, "X, Y -> Out", "axis"},
    {"less_than", pointwise, "X, Y -> Out", "axis"},
    {"less_equal", pointwise, "X, Y -> Out", "axis"},
    {"greater_than", pointwise, "X, Y -> Out", "axis"},
    {"greater_equal", pointwise, "X, Y -> Out", "axis"},
    {"equal_all", wholeOnly, "X, Y -> Out"},
    {"allclose", wholeOnly, "Input, Other, Rtol, Atol -> Out", "rtol, atol, equal_nan"},
    {"isclose", pointwise, "Input, Other, Rtol:w, Atol:w -> Out", "rtol, atol, equal_nan"},
    {"logical_and", pointwise, "X, Y -> Out"},
    {"logical_or", pointwise, "X, Y -> Out"},
    {"logical_xor", pointwise, "X, Y -> Out"},
    {"logical_not", pointwise, "X -> Out"},
    {"bitwise_and", pointwise, "X, Y -> Out"},
    {"bitwise_or", pointwise, "X, Y -> Out"},
    {"bitwise_xor", pointwise, "X, Y -> Out"},
    {"bitwise_not", pointwise, "X -> Out"},
    {"isfinite", wholeOnly, "X -> Out"},
    {"isinf", anyOf, "", "X"},
    {"isnan", anyOf, "", "X"},
    {"isfinite_v2", pointwise, "X:m -> Out"},
    {"isnan_v2", pointwise, "X:m -> Out"},
    {"isinf_v2", pointwise, "X:m -> Out"},
    {"is_empty", wholeOnly, "X:s -> Out"},
    {"where", pointwise, "X:l, Y:l, Condition => Out"},
    {"where_grad", pointwise,
     "Out@GRAD:l, Condition, X:s -> X@GRAD; "
     "Out@GRAD:l, Condition, Y:s -> Y@GRAD"},
    // How many there are, and where they stand, is said of a whole.
    {"where_index", wholeOnly, "Condition -> Out"},
};

}  // namespace

llvm::ArrayRef<RuleRow> logicalRules() { return kRows; }

}  // namespace dtranspile::verify
