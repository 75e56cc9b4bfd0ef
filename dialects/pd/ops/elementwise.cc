// Rows of the op table: family `elementwise`. Notation: op_table.h; read by op_table.cc.

#include "dialects/pd/ops/families.h"

namespace dtranspile::pd {
namespace {

constexpr const char* kElementwiseAddAttributes =
    "axis:i=-1, x_data_format:s~='', y_data_format:s~=''";

const OpRow kRows[] = {
    {"elementwise_add", "X, Y -> Out", kElementwiseAddAttributes, kPure, nullptr},
    {"elementwise_add_grad", "Out@GRAD, X, Y -> X@GRAD?, Y@GRAD?", kElementwiseAddAttributes,
     kPure, nullptr},
    {"elementwise_sub", "X, Y -> Out", kElementwiseAddAttributes, kPure, nullptr},
    {"elementwise_sub_grad", "Out@GRAD, X, Y -> X@GRAD?, Y@GRAD?", kElementwiseAddAttributes,
     kPure, nullptr},
    {"elementwise_mul", "X, Y -> Out", kElementwiseAddAttributes, kPure, nullptr},
    {"elementwise_mul_grad", "Out@GRAD, X, Y -> X@GRAD?, Y@GRAD?", kElementwiseAddAttributes,
     kPure, nullptr},
    {"elementwise_mul_grad_grad", "DDX?, DDY?, DOut?, X?, Y? -> DDOut?, X@GRAD?, Y@GRAD?",
     kElementwiseAddAttributes, kPure, nullptr},
    {"elementwise_div", "X, Y -> Out", kElementwiseAddAttributes, kPure, nullptr},
    {"elementwise_div_grad", "Out, Out@GRAD, X, Y -> X@GRAD?, Y@GRAD?", kElementwiseAddAttributes,
     kPure, nullptr},
    {"elementwise_max", "X, Y -> Out", kElementwiseAddAttributes, kPure, nullptr},
    {"elementwise_max_grad", "Out@GRAD, X, Y -> X@GRAD?, Y@GRAD?", kElementwiseAddAttributes,
     kPure, nullptr},
    {"elementwise_min", "X, Y -> Out", kElementwiseAddAttributes, kPure, nullptr},
    {"elementwise_min_grad", "Out@GRAD, X, Y -> X@GRAD?, Y@GRAD?", kElementwiseAddAttributes,
     kPure, nullptr},
    {"elementwise_pow", "X, Y -> Out", kElementwiseAddAttributes, kPure, nullptr},
    {"elementwise_pow_grad", "Out@GRAD, X, Y -> X@GRAD?, Y@GRAD?", kElementwiseAddAttributes,
     kPure, nullptr},
    {"elementwise_fmax", "X, Y -> Out", "", kPure, nullptr},
    {"elementwise_fmax_grad", "Out@GRAD, X?, Y? -> X@GRAD?, Y@GRAD?", "", kPure, nullptr},
    {"elementwise_fmin", "X, Y -> Out", "", kPure, nullptr},
    {"elementwise_fmin_grad", "Out@GRAD, X?, Y? -> X@GRAD?, Y@GRAD?", "", kPure, nullptr},
    {"elementwise_mod", "X, Y -> Out", kElementwiseAddAttributes, kPure, nullptr},
    {"elementwise_floordiv", "X, Y -> Out", kElementwiseAddAttributes, kPure, nullptr},
    {"grad_add", "X, Y -> Out", "axis:i=-1", kPure, nullptr},
    {"minus", "X, Y -> Out", "", kPure, nullptr},
    {"sum", "X+ -> Out", "", kPure, nullptr},
    {"scale", "X, ScaleTensor? -> Out", "scale:f=1, bias:f=0, bias_after_scale:b=true",
     kPure, nullptr},
    {"cast", "X -> Out", "out_dtype:i, in_dtype:i", kPure, nullptr},
    {"increment", "X -> Out", "step:f=1", kPure, nullptr},
    {"assign", "X? -> Out", "", kPure, nullptr},
    {"pow", "X, FactorTensor? -> Out", "factor:f=1", kPure, nullptr},
    {"pow_grad", "FactorTensor?, Out@GRAD, X -> X@GRAD?", "factor:f=1", kPure, nullptr},
    {"clip", "X, Min?, Max? -> Out", "min:f, max:f", kPure, nullptr},
    {"clip_grad", "Max?, Min?, Out@GRAD, X -> X@GRAD?", "min:f, max:f", kPure, nullptr},
    {"clip_by_norm", "X -> Out", "max_norm:f", kPure, nullptr},
    {"atan2", "X1, X2 -> Out", "", kPure, nullptr},
    {"atan2_grad", "Out@GRAD, X1?, X2? -> X1@GRAD?, X2@GRAD?", "", kPure, nullptr},
    {"lerp", "X, Y, Weight -> Out", "", kPure, nullptr},
    {"lerp_grad", "Out?, Out@GRAD, Weight?, X?, Y? -> X@GRAD?, Y@GRAD?", "", kPure, nullptr},
    {"fused_elemwise_activation", "X, Y -> Out, IntermediateOut",
     "axis:i=-1, scale:f=0, save_intermediate_out:b=false, functor_list:ss", kPure, nullptr},
};

}  // namespace

Family elementwiseFamily() { return {"elementwise", kRows}; }

}  // namespace dtranspile::pd
