// Relation rules: family `elementwise`. Notation: rule.h.
#include <cmath>

#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/numbers.h"
#include "compiler/analysis/relations/rules/families.h"
#include "llvm/ADT/STLExtras.h"

namespace dtranspile::verify {
namespace {

// scale·x + bias. Without bias it multiplies; with one it is a function that only whole values may
// pass (P(sum) + b counts b n times), whether the bias is added before or after.
// Of integers a product with what is no integer is cut off, and linear no more.
void scaleRule(RuleContext& context) {
  mlir::Value x = context.op().input("X");
  if (!x) return;
  const double by = context.op().getFloat("scale");
  const bool whole = by == std::floor(by) && !context.op().input("ScaleTensor");
  bool affine = context.op().getFloat("bias") != 0 || (isIntegral(x) && !whole);
  Form form;
  form.terms.push_back({x, ownLabels(x), affine ? Use::Value : Use::Linear});
  if (mlir::Value factor = context.op().input("ScaleTensor"))
    form.terms.push_back({factor, wholeLabels(factor), Use::Value});
  form.result = ownLabels(x);
  form.flat = true;
  context.result("Out", form);
}

// Between floats, and from integers to what holds at least as many, a cast is linear; from floats
// to integers it cuts off, and as a boolean only the sign is left.
void castRule(RuleContext& context) {
  mlir::Value x = context.op().input("X"), out = context.op().output("Out");
  if (!x || !out) return;
  const int from = bitsOf(x), to = bitsOf(out);
  Use use = Use::Linear;
  if (isIntegral(out) && (isFloating(x) || to < from)) use = to == 1 ? Use::Sign : Use::Value;
  Form form;
  form.terms.push_back({x, ownLabels(x), use});
  form.result = ownLabels(x);
  form.flat = true;
  context.result("Out", form);
}

// Second gradients of sums and differences. Which of the operands is zero is known, but a zero has
// the extents of the whole, which parts of flattened tensors do not.
void secondOfSum(RuleContext& context) {
  for (const char* slot : {"DDX", "DDY", "DOut", "Y"})
    if (context.isFlatPart(context.op().input(slot))) return;
  pointwise(context);
}

// A number of samples that the program took from a shape, perhaps as a float.
std::optional<Number> sampleCount(RuleContext& context, mlir::Value value) {
  mlir::Operation* maker = value.getDefiningOp();
  if (maker && pd::OpView::isFrameworkOp(maker) && pd::OpView(maker).type() == "cast" &&
      isFloating(value))
    value = pd::OpView(maker).input("X");
  std::optional<Numbers> numbers = value ? numbersOf(value) : std::nullopt;
  if (!numbers || numbers->size() != 1 || !numbers->front().isExtent()) return std::nullopt;
  const Number& number = numbers->front();
  const Relation& relation = context.relation(number.tensor);
  const bool even = relation.whole.known && !relation.uneven &&
                    llvm::all_of(relation.whole.states, [&](const State& state) {
                      return state.isReplicated() ||
                             (state.isSplit() && state.dim == number.dim && !state.layoutAttr());
                    });
  return even ? std::optional(number) : std::nullopt;
}

// The tensor whose elements are counted, perhaps as another type.
mlir::Value countedBy(mlir::Value value) {
  mlir::Operation* maker = value ? value.getDefiningOp() : nullptr;
  if (!maker || !pd::OpView::isFrameworkOp(maker)) return {};
  const pd::OpView op(maker);
  if (op.type() == "cast") return countedBy(op.input("X"));
  return op.type() == "size" ? op.input("Input") : mlir::Value();
}

// The number of elements of one tensor divided by that of another (how the framework counts what a
// variance is taken over): a rank has 1/n of both, and the same quotient.
bool isRatioOfSizes(RuleContext& context, mlir::Value x, mlir::Value y) {
  mlir::Value one = countedBy(x), other = countedBy(y);
  if (!one || !other) return false;
  const Relation &mine = context.relation(one), &theirs = context.relation(other);
  if (!mine.whole.known || !theirs.whole.known || mine.uneven || theirs.uneven) return false;
  for (auto [a, b] : llvm::zip(mine.whole.states, theirs.whole.states)) {
    const bool alike = (a.isReplicated() && b.isReplicated()) || (a.isSplit() && b.isSplit());
    if (!alike || a.layoutAttr() || b.layoutAttr()) return false;
  }
  return true;
}

// Division, of X or of the gradient of the result. By a number of samples it is a mean: on a rank,
// by the number of its own.
void divideRule(RuleContext& context) {
  const pd::OpView& op = context.op();
  const bool forward = op.hasOutput("Out");
  mlir::Value x = op.input(forward ? "X" : "Out@GRAD"), y = op.input("Y"),
              out = op.output(forward ? "Out" : "X@GRAD");
  std::optional<Number> count = x && y && out && isFloating(x) && !op.output("Y@GRAD")
                                    ? sampleCount(context, y)
                                    : std::nullopt;
  Form form;
  if (forward && x && y && out && isFloating(x) && isRatioOfSizes(context, x, y)) {
    form.terms = {{x, ownLabels(x), Use::Shape}, {y, ownLabels(y), Use::Shape}};
    form.result = ownLabels(out);
    return context.result("Out", form);
  }
  if (!count || rankOf(x) != rankOf(out)) return pointwise(context);
  form.terms.push_back({x, ownLabels(x), Use::Linear});
  form.result = ownLabels(out);
  form.divisors.push_back({count->tensor, count->dim});
  form.flat = true;
  context.result(forward ? "Out" : "X@GRAD", form);
}

#define DT_BROADCAST_GRAD "Out@GRAD:l, X:s -> X@GRAD; Out@GRAD:l, Y:s -> Y@GRAD"
#define DT_CHOICE_GRAD "Out@GRAD:l, X, Y -> X@GRAD, Y@GRAD"

const RuleRow kRows[] = {
    {"elementwise_add", pointwise, "X:l, Y:l => Out", "axis"},
    {"elementwise_add_grad", pointwise, DT_BROADCAST_GRAD, "axis"},
    {"elementwise_sub", pointwise, "X:l, Y:l => Out", "axis"},
    {"elementwise_sub_grad", pointwise, DT_BROADCAST_GRAD, "axis"},
    {"elementwise_mul", pointwise, "X:l, Y:l -> Out", "axis"},
    {"elementwise_mul_grad", pointwise,
     "Out@GRAD:l, Y:l, X:s -> X@GRAD; Out@GRAD:l, X:l, Y:s -> Y@GRAD", "axis"},
    {"elementwise_mul_grad_grad", pointwise,
     "DDX:l, DDY:l, X, Y => DDOut; DOut:l, DDY:l, X:s -> X@GRAD; DOut:l, DDX:l, Y:s -> Y@GRAD",
     "axis"},
    {"elementwise_add_grad_grad", secondOfSum, "DDX:l, DDY:l, DOut:s, Y:s => DDOut", "axis"},
    {"elementwise_sub_grad_grad", secondOfSum, "DDX:l, DDY:l, DOut:s, Y:s => DDOut", "axis"},
    {"elementwise_div_grad_grad", pointwise,
     "DDX:l, DDY:l, DX, Out, Y => Y@GRAD; DX:l, DDY:l, Out:s -> DOut; DDX:l, DDY:l, Out, Y => "
     "DDOut",
     "axis"},
    {"elementwise_add_triple_grad", pointwise,
     "D_DDOut:l, DDX:s -> D_DDX; D_DDOut:l, DDY:s -> D_DDY", "axis"},
    {"elementwise_mul_triple_grad", pointwise,
     "D_DDOut:l, DDY:l, X:s -> D_X; D_DDOut:l, DDX:l, Y:s -> D_Y; "
     "D_DX:l, D_DY:l, DDX, DDY, DOut:s => D_DOut; D_DY:l, D_DDOut:l, DOut, Y, X:s => D_DDX; "
     "D_DX:l, D_DDOut:l, DOut, X, Y:s => D_DDY",
     "axis"},
    {"elementwise_div", divideRule, "X:f, Y -> Out", "axis"},
    {"elementwise_div_grad", divideRule,
     "Out@GRAD:l, Y, X:s -> X@GRAD; Out@GRAD:l, Out:l, Y -> Y@GRAD", "axis"},
    {"elementwise_max", pointwise, "X, Y -> Out", "axis"},
    {"elementwise_max_grad", pointwise, DT_CHOICE_GRAD, "axis"},
    {"elementwise_min", pointwise, "X, Y -> Out", "axis"},
    {"elementwise_min_grad", pointwise, DT_CHOICE_GRAD, "axis"},
    {"elementwise_fmax", pointwise, "X, Y -> Out"},
    {"elementwise_fmax_grad", pointwise, DT_CHOICE_GRAD},
    {"elementwise_fmin", pointwise, "X, Y -> Out"},
    {"elementwise_fmin_grad", pointwise, DT_CHOICE_GRAD},
    {"elementwise_pow", pointwise, "X, Y -> Out", "axis"},
    {"elementwise_pow_grad", pointwise, DT_CHOICE_GRAD, "axis"},
    {"elementwise_heaviside", pointwise, "X:m, Y -> Out"},
    {"elementwise_heaviside_grad", pointwise,
     "Out@GRAD:l, X:s, Y:s -> X@GRAD; Out@GRAD:l, X:m, Y:s -> Y@GRAD"},
    {"elementwise_mod", pointwise, "X, Y -> Out", "axis"},
    {"elementwise_floordiv", pointwise, "X, Y -> Out", "axis"},
    {"grad_add", pointwise, "X:l, Y:l => Out", "axis"},
    {"minus", pointwise, "X:l, Y:l => Out"},
    {"sum", pointwise, "X:l => Out"},
    {"scale", scaleRule, "", "X, ScaleTensor, scale, bias, bias_after_scale"},
    {"cast", castRule, "X:l -> Out", "out_dtype, in_dtype"},
    {"increment", pointwise, "X -> Out", "step"},
    {"assign", pointwise, "X:l -> Out"},
    {"share_data", pointwise, "X:l -> Out"},
    {"memcpy", pointwise, "X:l -> Out", "dst_place_type"},
    {"pow", pointwise, "X, FactorTensor:w -> Out", "factor"},
    {"pow_grad", pointwise, "Out@GRAD:l, X, FactorTensor:w -> X@GRAD", "factor"},
    {"clip", pointwise, "X, Min:w, Max:w -> Out", "min, max"},
    {"clip_grad", pointwise, "Out@GRAD:l, X, Min:w, Max:w -> X@GRAD", "min, max"},
    // By the norm of the whole tensor.
    {"pow_double_grad", pointwise,
     "X, FactorTensor:w, grad_out:l, grad_x@GRAD:l -> X@GRAD; "
     "X, FactorTensor:w, grad_x@GRAD:l -> grad_out@GRAD",
     "factor"},
    {"clip_double_grad", pointwise, "X, grad_x@GRAD:l, Min:w, Max:w -> grad_out@GRAD", "min, max"},
    {"clip_by_norm", wholeOnly, "X -> Out", "max_norm"},
    {"atan2", pointwise, "X1, X2 -> Out"},
    {"atan2_grad", pointwise, "Out@GRAD:l, X1, X2 -> X1@GRAD, X2@GRAD"},
    {"lerp", pointwise, "X:l, Y:l, Weight => Out"},
    {"lerp_grad", pointwise, "Out@GRAD:l, Weight, X:s -> X@GRAD; Out@GRAD:l, Weight, Y:s -> Y@GRAD",
     "Out"},
    {"fused_elemwise_activation", pointwise, "X, Y -> Out, IntermediateOut",
     "axis, scale, save_intermediate_out, functor_list"},
};

}  // namespace

llvm::ArrayRef<RuleRow> elementwiseRules() { return kRows; }

}  // namespace dtranspile::verify
