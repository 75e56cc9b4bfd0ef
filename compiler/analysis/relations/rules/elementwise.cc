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
    {"elementwise_add", pointwiseSum, "X:l, Y:l -> Out", "axis"},
    {"elementwise_add_grad", pointwise, "Out@GRAD:l, X:s -> X@GRAD; Out@GRAD:l, Y:s -> Y@GRAD",
     "axis"},
    {"elementwise_sub", pointwiseSum, "X:l, Y:l -> Out", "axis"},
    {"elementwise_sub_grad", pointwise, "Out@GRAD:l, X:s -> X@GRAD; Out@GRAD:l, Y:s -> Y@GRAD",
     "axis"},
    {"elementwise_mul", pointwise, "X:l, Y:l -> Out", "axis"},
    {"elementwise_mul_grad", pointwise, "Out@GRAD:l, Y:l -> X@GRAD; Out@GRAD:l, X:l -> Y@GRAD",
     "axis"},
    {"elementwise_div", pointwise, "X:l, Y -> Out", "axis"},
    {"elementwise_div_grad", pointwise, "Out@GRAD:l, Y -> X@GRAD; Out@GRAD:l, Out:l, Y -> Y@GRAD",
     "X, axis"},
    {"elementwise_max", pointwise, "X, Y -> Out", "axis"},
    {"elementwise_max_grad", pointwise, "Out@GRAD:l, X, Y -> X@GRAD, Y@GRAD", "axis"},
    {"elementwise_min", pointwise, "X, Y -> Out", "axis"},
    {"elementwise_min_grad", pointwise, "Out@GRAD:l, X, Y -> X@GRAD, Y@GRAD", "axis"},
    {"elementwise_pow", pointwise, "X, Y -> Out", "axis"},
    {"elementwise_pow_grad", pointwise, "Out@GRAD:l, X, Y -> X@GRAD, Y@GRAD", "axis"},
    {"elementwise_mod", pointwise, "X, Y -> Out", "axis"},
    {"elementwise_floordiv", pointwise, "X, Y -> Out", "axis"},
    {"grad_add", pointwiseSum, "X:l, Y:l -> Out", "axis"},
    {"minus", pointwiseSum, "X:l, Y:l -> Out"},
    {"sum", pointwiseSum, "X:l -> Out"},
    {"scale", scaleRule, "", "X, ScaleTensor, scale, bias, bias_after_scale"},
    {"cast", pointwise, "X:l -> Out", "out_dtype, in_dtype"},
    {"increment", pointwise, "X -> Out", "step"},
    {"assign", pointwise, "X:l -> Out"},
    {"pow", pointwise, "X, FactorTensor:w -> Out", "factor"},
    {"pow_grad", pointwise, "Out@GRAD:l, X, FactorTensor:w -> X@GRAD", "factor"},
    {"clip", pointwise, "X, Min:w, Max:w -> Out", "min, max"},
    {"clip_grad", pointwise, "Out@GRAD:l, X, Min:w, Max:w -> X@GRAD", "min, max"},
    {"clip_by_norm", wholeOnly, "X -> Out", "max_norm"},
};

}  // namespace

llvm::ArrayRef<RuleRow> elementwiseRules() { return kRows; }

}  // namespace dtranspile::verify
