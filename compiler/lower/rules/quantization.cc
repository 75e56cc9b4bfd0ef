// Lowering rules: family `quantization` (Jacob et al. 2018): numbers rounded to levels while a net
// trains. Gradients go through as if nothing were rounded.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

using llvm::LogicalResult;

// In test mode scales are those that earlier steps left in the output, which are no input.
LogicalResult lowerQuantizeChannels(OpLowering& op) {
  if (op.op().getBool("is_test")) return op.unsupported("test mode (is_test)");
  return op.callRow();
}
LogicalResult lowerObserveRange(OpLowering& op) {
  if (op.op().getBool("is_test")) return op.unsupported("test mode (is_test)");
  return op.callRow();
}

const LoweringRule kRules[] = {
    callRule("fake_quantize_abs_max", "dt_quantize_abs_max"),
    callRule("fake_quantize_dequantize_abs_max", "dt_quantize_abs_max"),
    choiceRule("fake_channel_wise_quantize_abs_max", lowerQuantizeChannels, "dt_quantize_channels"),
    callRule("fake_channel_wise_quantize_dequantize_abs_max", "dt_quantize_channels"),
    callRule("fake_quantize_moving_average_abs_max", "dt_quantize_average"),
    callRule("fake_quantize_dequantize_moving_average_abs_max", "dt_quantize_average"),
    callRule("fake_quantize_range_abs_max", "dt_quantize_range(OldScales=$OutScales)"),
    choiceRule("moving_average_abs_max_scale", lowerObserveRange, "dt_observe_range"),
    {"stright_throuth_estimator_grad", Inner::None, "X@GRAD = Out@GRAD"},
    {"fake_dequantize_max_abs", Inner::None, "Out = X * Scale / max_range"},
    callRule("fake_channel_wise_dequantize_max_abs", "dt_dequantize_channels"),
    callRule("quantize_linear", "dt_quantize_linear"),
    callRule("dequantize_linear", "dt_dequantize_linear"),
};

}  // namespace

RuleTable quantizationRules() { return kRules; }

}  // namespace dtranspile::lower
