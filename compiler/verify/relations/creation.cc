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

// Copies into one buffer whose parts the outputs are. Without copy_data they hold a constant, or nothing that could be relied on.
void coalesce(RuleContext& context) {
  const pd::OpView& op = context.op();
  const bool copies = op.getBool("copy_data");
  if (!copies && op.getBool("set_constant")) {
    for (llvm::StringRef slot : {"Output", "FusedOutput"})
      for (unsigned i = 0; i < op.outputCount(slot); ++i)
        if (mlir::Value out = op.output(slot, i)) context.result(slot, i, Form{.result = wholeLabels(out)});
    return;
  }
  if (!copies) return;
  Form fused;
  fused.combine = Combine::Sum;  // linear in all parts together
  for (unsigned i = 0; i < op.inputCount("Input"); ++i) {
    mlir::Value input = op.input("Input", i), out = op.output("Output", i);
    if (!input) continue;
    fused.terms.push_back({input, wholeLabels(input), Use::Linear});
    if (out) context.result("Output", i, Form{.terms = {{input, ownLabels(input), Use::Linear}}, .result = ownLabels(out)});
  }
  if (mlir::Value out = op.output("FusedOutput")) {
    fused.result = wholeLabels(out);
    context.result("FusedOutput", fused);
  }
}

const RuleRow kRows[] = {
    {"fill_constant", fillConstant, "ValueTensor, ShapeTensor, ShapeTensorList -> Out"},
    {"fill_constant_batch_size_like", batchSizeLike, ""},
    {"coalesce_tensor", coalesce, ""},
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
