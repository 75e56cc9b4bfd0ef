// Rows of the op table: family `elementwise`. Notation: op_table.h; read by op_table.cc.

#include "dialects/pd/ops/constraints.h"
#include "dialects/pd/ops/families.h"
#include "dialects/pd/ops/infer_common.h"
#include "dialects/pd/ops/infer_elementwise.h"

namespace dtranspile::pd {
namespace {

constexpr const char* kElementwiseAddAttributes =
    "axis:i=-1, x_data_format:s~='', y_data_format:s~=''";

const OpRow kRows[] = {
    {"elementwise_add", "X, Y -> Out", kElementwiseAddAttributes, kPure, inferElementwise,
     kBroadcastConstraints},
    {"elementwise_add_grad", "Out@GRAD, X, Y -> X@GRAD?, Y@GRAD?", kElementwiseAddAttributes, kPure,
     inferGradients},
    {"elementwise_sub", "X, Y -> Out", kElementwiseAddAttributes, kPure, inferElementwise,
     kBroadcastConstraints},
    {"elementwise_sub_grad", "Out@GRAD, X, Y -> X@GRAD?, Y@GRAD?", kElementwiseAddAttributes, kPure,
     inferGradients},
    {"elementwise_mul", "X, Y -> Out", kElementwiseAddAttributes, kPure, inferElementwise,
     kBroadcastConstraints},
    {"elementwise_mul_grad", "Out@GRAD, X, Y -> X@GRAD?, Y@GRAD?", kElementwiseAddAttributes, kPure,
     inferGradients},
    {"elementwise_mul_grad_grad", "DDX?, DDY?, DOut?, X?, Y? -> DDOut?, X@GRAD?, Y@GRAD?",
     kElementwiseAddAttributes, kPure, inferProductSecondGradient},
    {"elementwise_add_grad_grad", "DDX?, DDY?, DOut, Y? -> DDOut?", kElementwiseAddAttributes,
     kGradient, inferSame<"DOut", "DDOut">},
    {"elementwise_sub_grad_grad", "DDX?, DDY?, DOut, Y? -> DDOut?", kElementwiseAddAttributes,
     kGradient, inferSame<"DOut", "DDOut">},
    {"elementwise_add_triple_grad", "DDX?, DDY?, D_DDOut -> D_DDX?, D_DDY?",
     kElementwiseAddAttributes, kGradient, inferSumThirdGradient},
    {"elementwise_mul_triple_grad",
     "DDX?, DDY?, DOut?, X?, Y?, D_DX?, D_DY?, D_DDOut? -> D_DDX?, D_DDY?, D_DOut?, D_X?, D_Y?",
     kElementwiseAddAttributes, kGradient, inferProductThirdGradient},
    {"elementwise_div", "X, Y -> Out", kElementwiseAddAttributes, kPure, inferElementwise,
     kBroadcastConstraints},
    {"elementwise_div_grad", "Out, Out@GRAD, X, Y -> X@GRAD?, Y@GRAD?", kElementwiseAddAttributes,
     kPure, inferGradients},
    {"elementwise_div_grad_grad", "Y, Out, DX, DDX?, DDY? -> Y@GRAD?, DOut?, DDOut?",
     kElementwiseAddAttributes, kPure, inferQuotientSecondGradient},
    {"elementwise_max", "X, Y -> Out", kElementwiseAddAttributes, kPure, inferElementwise,
     kBroadcastConstraints},
    {"elementwise_max_grad", "Out@GRAD, X, Y -> X@GRAD?, Y@GRAD?", kElementwiseAddAttributes, kPure,
     inferGradients},
    {"elementwise_min", "X, Y -> Out", kElementwiseAddAttributes, kPure, inferElementwise,
     kBroadcastConstraints},
    {"elementwise_min_grad", "Out@GRAD, X, Y -> X@GRAD?, Y@GRAD?", kElementwiseAddAttributes, kPure,
     inferGradients},
    {"elementwise_pow", "X, Y -> Out", kElementwiseAddAttributes, kPure, inferElementwise,
     kBroadcastConstraints},
    {"elementwise_pow_grad", "Out@GRAD, X, Y -> X@GRAD?, Y@GRAD?", kElementwiseAddAttributes, kPure,
     inferGradients},
    {"elementwise_fmax", "X, Y -> Out", "", kPure, inferElementwise, kBroadcastConstraints},
    {"elementwise_fmax_grad", "Out@GRAD, X?, Y? -> X@GRAD?, Y@GRAD?", "", kPure, inferGradients},
    {"elementwise_fmin", "X, Y -> Out", "", kPure, inferElementwise, kBroadcastConstraints},
    {"elementwise_fmin_grad", "Out@GRAD, X?, Y? -> X@GRAD?, Y@GRAD?", "", kPure, inferGradients},
    {"elementwise_heaviside", "X, Y -> Out", "", kPure, inferElementwise, kBroadcastConstraints},
    {"elementwise_heaviside_grad", "Out@GRAD, X, Y -> X@GRAD?, Y@GRAD?", "", kPure, inferGradients},
    {"elementwise_mod", "X, Y -> Out", kElementwiseAddAttributes, kPure, inferElementwise,
     kBroadcastConstraints},
    {"elementwise_floordiv", "X, Y -> Out", kElementwiseAddAttributes, kPure, inferElementwise,
     kBroadcastConstraints},
    {"grad_add", "X, Y -> Out", "axis:i=-1", kPure, inferElementwise, kBroadcastConstraints},
    {"minus", "X, Y -> Out", "", kPure, inferElementwise},
    {"sum", "X+ -> Out", "", kPure, inferSum, kSumConstraints},
    {"scale", "X, ScaleTensor? -> Out", "scale:f|d=1, bias:f=0, bias_after_scale:b=true", kPure,
     inferSame<"X", "Out">},
    {"cast", "X -> Out", "out_dtype:i, in_dtype:i", kPure, inferCast},
    {"increment", "X -> Out", "step:f=1", kPure, inferSame<"X", "Out">},
    {"assign", "X? -> Out", "", kPure, inferSame<"X", "Out">},
    {"share_data", "X -> Out", "", kPure, inferSame<"X", "Out">},
    {"memcpy", "X -> Out", "dst_place_type:i", kPure, inferSame<"X", "Out">},
    {"pow", "X, FactorTensor? -> Out", "factor:f=1", kPure, inferSame<"X", "Out">},
    {"pow_grad", "FactorTensor?, Out@GRAD, X -> X@GRAD?", "factor:f=1", kPure, inferGradients},
    {"clip", "X, Min?, Max? -> Out", "min:f, max:f", kPure, inferSame<"X", "Out">,
     kClipConstraints},
    {"clip_grad", "Max?, Min?, Out@GRAD, X -> X@GRAD?", "min:f, max:f", kPure, inferGradients},
    {"pow_double_grad", "X, FactorTensor?, grad_out?, grad_x@GRAD -> X@GRAD?, grad_out@GRAD?",
     "factor:f=1", kPure, inferAll<"X">},
    {"clip_double_grad", "X, grad_x@GRAD, Min?, Max? -> grad_out@GRAD?", "min:f, max:f", kPure,
     inferSame<"X", "grad_out@GRAD">},
    {"clip_by_norm", "X -> Out", "max_norm:f", kPure, inferSame<"X", "Out">},
    {"atan2", "X1, X2 -> Out", "", kPure, inferAtan2},
    {"atan2_grad", "Out@GRAD, X1?, X2? -> X1@GRAD?, X2@GRAD?", "", kPure, inferGradients},
    {"lerp", "X, Y, Weight -> Out", "", kPure, inferElementwise},
    {"lerp_grad", "Out?, Out@GRAD, Weight?, X?, Y? -> X@GRAD?, Y@GRAD?", "", kPure, inferGradients},
    {"fused_elemwise_activation", "X, Y -> Out, IntermediateOut",
     "axis:i=-1, scale:f=0, save_intermediate_out:b=false, functor_list:ss", kPure,
     inferFusedActivation},
};

}  // namespace

Family elementwiseFamily() { return {"elementwise", kRows}; }

}  // namespace dtranspile::pd
