// Relation rules: family `quantization`. A scale is the largest magnitude of all elements, so that
// what is rounded by it needs the whole; ranks that round their shares each for itself have scales
// of their own. Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

// Channels are dim 0 or 1; all others must be whole.
void channels(RuleContext& context) {
  const pd::OpView& op = context.op();
  mlir::Value x = op.input("X"), scales = op.output("OutScale");
  if (!x) return;
  const int axis = static_cast<int>(op.getInt("quant_axis"));
  if (axis < 0 || axis >= rankOf(x)) return;
  Form form;
  form.terms.push_back({x, wholeLabels(x), Use::Value});
  form.terms[0].labels[axis] = 0;
  form.result = form.terms[0].labels;
  context.result("Out", form);
  if (!scales || rankOf(scales) != 1) return;
  form.terms[0].use = Use::Homogeneous;
  form.result = {0};
  context.result("OutScale", form);
}

// X goes through; its range is that of the whole.
void observed(RuleContext& context) {
  mlir::Value x = context.op().input("X");
  if (!x) return;
  Form form;
  form.terms.push_back({x, ownLabels(x), Use::Linear});
  form.result = ownLabels(x);
  context.result("Out", form);
  wholeOnly(context);
}

#define DT_LEVELS "bit_length, round_type"

const RuleRow kRows[] = {
    {"fake_quantize_abs_max", wholeOnly, "X -> Out; X:h -> OutScale", DT_LEVELS},
    {"fake_quantize_dequantize_abs_max", wholeOnly, "X:h -> Out, OutScale", DT_LEVELS},
    {"fake_channel_wise_quantize_abs_max", channels, "", "X, quant_axis, " DT_LEVELS},
    {"fake_channel_wise_quantize_dequantize_abs_max", channels, "", "X, quant_axis, " DT_LEVELS},
    {"fake_quantize_moving_average_abs_max", wholeOnly,
     "X, InScale, InAccum, InState -> Out, OutScale; X, InAccum -> OutAccum; InState -> OutState",
     "moving_rate, is_test, " DT_LEVELS},
    {"fake_quantize_dequantize_moving_average_abs_max", wholeOnly,
     "X, InScale, InAccum, InState -> Out, OutScale; X, InAccum -> OutAccum; InState -> OutState",
     "moving_rate, is_test, " DT_LEVELS},
    {"fake_quantize_range_abs_max", wholeOnly,
     "X, InScale, Iter, $OutScales -> Out, OutScale, OutScales",
     "window_size, is_test, " DT_LEVELS},
    {"moving_average_abs_max_scale", observed,
     "X, InAccum, InState -> OutScale; X, InAccum -> OutAccum; InState -> OutState",
     "moving_rate, is_test"},
    {"stright_throuth_estimator_grad", pointwise, "Out@GRAD:l -> X@GRAD",
     "moving_rate, quant_axis, is_test, " DT_LEVELS},
    {"fake_dequantize_max_abs", pointwise, "X:l, Scale:wl -> Out", "max_range"},
    {"fake_channel_wise_dequantize_max_abs", wholeOnly, "X:l, Scales -> Out",
     "quant_bits, quant_axis, x_num_col_dims"},
    {"quantize_linear", wholeOnly,
     "X, Scale, InAccum, InState -> Y, OutScale, OutAccum; InState -> OutState",
     "quant_axis, is_test, only_observer, ZeroPoint, " DT_LEVELS},
    {"dequantize_linear", wholeOnly, "X:l, Scale:l -> Y",
     "quant_axis, is_test, only_observer, ZeroPoint, InAccum, InState, " DT_LEVELS},
};

}  // namespace

llvm::ArrayRef<RuleRow> quantizationRules() { return kRows; }

}  // namespace dtranspile::verify
