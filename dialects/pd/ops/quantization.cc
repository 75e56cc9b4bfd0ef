// Rows of the op table: family `quantization`. Notation: op_table.h; read by op_table.cc.

#include "dialects/pd/ops/families.h"
#include "dialects/pd/ops/infer_quantization.h"

namespace dtranspile::pd {
namespace {

constexpr const char* kWholeAttributes = "bit_length:i=8, round_type:i=1";
constexpr const char* kAverageAttributes =
    "moving_rate:f=0.9, bit_length:i=8, is_test:b=false, round_type:i=1";
constexpr const char* kAverageSlots =
    "X, InScale, InAccum?, InState? -> Out, OutScale, OutState?, OutAccum?";
constexpr const char* kLinearSlots =
    "X, Scale, ZeroPoint, InAccum?, InState? -> Y, OutState?, OutAccum?, OutScale?";
constexpr const char* kLinearAttributes =
    "quant_axis:i=0, bit_length:i=8, round_type:i=0, is_test:b=true, only_observer:b=false, "
    "moving_rate:f~=0.9";

const OpRow kRows[] = {
    {"fake_quantize_abs_max", "X -> Out, OutScale", kWholeAttributes, kPure, inferQuantize},
    {"fake_quantize_dequantize_abs_max", "X -> Out, OutScale", kWholeAttributes, kPure,
     inferQuantize},
    {"fake_channel_wise_quantize_abs_max", "X -> Out, OutScale",
     "quant_axis:i=0, bit_length:i=8, is_test:b=false, round_type:i=1", kPure,
     inferQuantizeChannels},
    {"fake_channel_wise_quantize_dequantize_abs_max", "X -> Out, OutScale",
     "quant_axis:i=0, bit_length:i=8, round_type:i=1", kPure, inferQuantizeChannels},
    {"fake_quantize_moving_average_abs_max", kAverageSlots, kAverageAttributes, kPure,
     inferQuantize},
    {"fake_quantize_dequantize_moving_average_abs_max", kAverageSlots, kAverageAttributes, kPure,
     inferQuantize},
    {"fake_quantize_range_abs_max", "X, InScale, Iter? -> Out, OutScale, OutScales?!",
     "window_size:i=10000, bit_length:i=8, is_test:b=false, round_type:i=1", kPure, inferQuantize},
    {"moving_average_abs_max_scale",
     "X, InAccum?, InState? -> Out?, OutScale, OutState?, OutAccum?",
     "moving_rate:f=0.9, is_test:b=false", kPure, inferQuantize},
    // Of all of the above that have one.
    {"stright_throuth_estimator_grad", "Out@GRAD -> X@GRAD?",
     "moving_rate:f=0.9, quant_axis:i=0, bit_length:i=8, is_test:b=false, round_type:i=1", kPure,
     inferSame<"Out@GRAD", "X@GRAD">},
    {"fake_dequantize_max_abs", "X, Scale -> Out", "max_range:f", kPure, inferSame<"X", "Out">},
    {"fake_channel_wise_dequantize_max_abs", "X, Scales+ -> Out",
     "quant_bits:is={8}, quant_axis:i=0, x_num_col_dims:i=1", kPure, inferSame<"X", "Out">},
    {"quantize_linear", kLinearSlots, kLinearAttributes, kPure, inferQuantizeLinear},
    {"dequantize_linear", kLinearSlots, kLinearAttributes, kPure, inferQuantizeLinear},
};

}  // namespace

Family quantizationFamily() { return {"quantization", kRows}; }

}  // namespace dtranspile::pd
