// Relation rules: family `elementwise`. Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

// scale·x + bias. Without bias it multiplies; with one it is a function that only whole values may
// pass (P(sum) + b counts b n times).
void scaleRule(RuleContext& context) {
  mlir::Value x = context.op().input("X");
  if (!x) return;
  bool affine = context.op().getFloat("bias") != 0;
  Form form;
  form.terms.push_back({x, ownLabels(x), affine ? Use::Value : Use::Linear});
  if (mlir::Value factor = context.op().input("ScaleTensor"))
    form.terms.push_back({factor, wholeLabels(factor), Use::Value});
  form.result = ownLabels(x);
  context.result("Out", form);
}

const RuleRow kRows[] = {
    {"elementwise_add", pointwiseSum, "X:l, Y:l -> Out"},
    {"elementwise_add_grad", pointwise, "Out@GRAD:l, X:s -> X@GRAD; Out@GRAD:l, Y:s -> Y@GRAD"},
    {"elementwise_sub", pointwiseSum, "X:l, Y:l -> Out"},
    {"elementwise_sub_grad", pointwise, "Out@GRAD:l, X:s -> X@GRAD; Out@GRAD:l, Y:s -> Y@GRAD"},
    {"elementwise_mul", pointwise, "X:l, Y:l -> Out"},
    {"elementwise_mul_grad", pointwise, "Out@GRAD:l, Y:l -> X@GRAD; Out@GRAD:l, X:l -> Y@GRAD"},
    {"elementwise_div", pointwise, "X:l, Y -> Out"},
    {"elementwise_div_grad", pointwise, "Out@GRAD:l, Y -> X@GRAD; Out@GRAD:l, Out:l, Y -> Y@GRAD"},
    {"elementwise_max", pointwise, "X, Y -> Out"},
    {"elementwise_max_grad", pointwise, "Out@GRAD:l, X, Y -> X@GRAD, Y@GRAD"},
    {"elementwise_min", pointwise, "X, Y -> Out"},
    {"elementwise_min_grad", pointwise, "Out@GRAD:l, X, Y -> X@GRAD, Y@GRAD"},
    {"elementwise_pow", pointwise, "X, Y -> Out"},
    {"elementwise_pow_grad", pointwise, "Out@GRAD:l, X, Y -> X@GRAD, Y@GRAD"},
    {"elementwise_mod", pointwise, "X, Y -> Out"},
    {"elementwise_floordiv", pointwise, "X, Y -> Out"},
    {"grad_add", pointwiseSum, "X:l, Y:l -> Out"},
    {"minus", pointwiseSum, "X:l, Y:l -> Out"},
    {"sum", pointwiseSum, "X:l -> Out"},
    {"scale", scaleRule, ""},
    {"cast", pointwise, "X:l -> Out"},
    {"increment", pointwise, "X -> Out"},
    {"assign", pointwise, "X:l -> Out"},
    {"pow", pointwise, "X, FactorTensor:w -> Out"},
    {"pow_grad", pointwise, "Out@GRAD:l, X, FactorTensor:w -> X@GRAD"},
    {"clip", pointwise, "X, Min:w, Max:w -> Out"},
    {"clip_grad", pointwise, "Out@GRAD:l, X, Min:w, Max:w -> X@GRAD"},
    {"clip_by_norm", wholeOnly, "X -> Out"},
};

}  // namespace

llvm::ArrayRef<RuleRow> elementwiseRules() { return kRows; }

}  // namespace dtranspile::verify
