// Relation rules: family `creation`. Notation: rule.h.
#include "compiler/verify/relations/families.h"
#include "compiler/verify/relations/kinds.h"

namespace dtranspile::verify {
namespace {

void fillConstant(RuleContext& context) {
  wholeOnly(context);
  mlir::Value out = context.op().output("Out");
  bool fixed = !context.op().hasInput("ValueTensor") && context.op().getString("str_value").empty();
  if (!out || !fixed || context.op().getFloat("value") != 0) return;
  Relation zero;
  zero.whole = zero.parts = Reading::replicated(context.axes());
  zero.isZero = true;
  context.assign("Out", 0, zero);
}

// One extent is that of an operand's batch; the values are constant.
void batchSizeLike(RuleContext& context) {
  mlir::Value like = context.op().input("Input"), out = context.op().output("Out");
  if (!like || !out) return;
  Labels from = wholeLabels(like), to = wholeLabels(out);
  auto i = static_cast<size_t>(context.op().getInt("input_dim_idx")), o = static_cast<size_t>(context.op().getInt("output_dim_idx"));
  if (i < from.size() && o < to.size()) from[i] = to[o] = 0;
  Form form;
  form.terms.push_back({like, from, Use::Shape});
  form.result = to;
  context.result("Out", form);
}

const RuleRow kRows[] = {
    {"fill_constant", fillConstant, "ValueTensor, ShapeTensor, ShapeTensorList -> Out"},
    {"fill_constant_batch_size_like", batchSizeLike, ""},
    {"fill_any_like", pointwise, "X:s -> Out"},
    {"fill_zeros_like", pointwise, "X:s -> Out"},
    {"assign_value", wholeOnly, " -> Out"},
    {"range", wholeOnly, "Start, End, Step -> Out"},
    {"linspace", wholeOnly, "Start, Stop, Num -> Out"},
    {"eye", wholeOnly, " -> Out"},
};

}  // namespace

llvm::ArrayRef<RuleRow> creationRules() { return kRows; }

}  // namespace dtranspile::verify
