// Rows of the op table: family `linear_algebra`. Notation: op_table.h; read by op_table.cc.

#include "dialects/pd/ops/families.h"

namespace dtranspile::pd {
namespace {

constexpr const char* kMulAttributes =
    "x_num_col_dims:i=1, y_num_col_dims:i=1, scale_x:f~=1, scale_y:fs~={1}, scale_out:f~=1";

constexpr const char* kMatmulAttributes =
    "transpose_X:b=false, transpose_Y:b=false, alpha:f=1, fused_reshape_Out:is={}, "
    "fused_transpose_Out:is={}, head_number:i=1";

constexpr const char* kTraceAttributes =
    "offset:i=0, dim1:i=-2, dim2:i=-1, axis1:i=0, axis2:i=1";

constexpr const char* kPNormAttributes =
    "porder:f=2, axis:i=-1, epsilon:f=1e-12, keepdim:b=false, asvector:b=false@1";

constexpr const char* kFrobeniusNormAttributes =
    "dim:is={0}, keep_dim:b=false, reduce_all:b=false, in_dtype:i=-1, out_dtype:i=-1";

const OpRow kRows[] = {
    {"mul", "X, Y -> Out", kMulAttributes, kPure, nullptr},
    {"mul_grad", "Out@GRAD, X, Y -> X@GRAD?, Y@GRAD?", kMulAttributes, kPure, nullptr},
    {"matmul", "X, Y -> Out", kMatmulAttributes, kPure, nullptr},
    {"matmul_grad", "Out@GRAD, X, Y -> X@GRAD?, Y@GRAD?", kMatmulAttributes, kPure, nullptr},
    {"matmul_v2", "X, Y -> Out", "trans_x:b=false, trans_y:b=false", kPure, nullptr},
    {"matmul_v2_grad", "Out@GRAD, X?, Y? -> X@GRAD?, Y@GRAD?", "trans_x:b=false, trans_y:b=false",
     kPure, nullptr},
    {"bmm", "X, Y -> Out", "", kPure, nullptr},
    {"bmm_grad", "Out@GRAD, X?, Y? -> X@GRAD?, Y@GRAD?", "", kPure, nullptr},
    {"mv", "X, Vec -> Out", "", kPure, nullptr},
    {"mv_grad", "Out@GRAD, Vec?, X? -> Vec@GRAD?, X@GRAD?", "", kPure, nullptr},
    {"dot", "X, Y -> Out", "", kPure, nullptr},
    {"dot_grad", "Out@GRAD, X?, Y? -> X@GRAD?, Y@GRAD?", "", kPure, nullptr},
    {"addmm", "Input, X, Y -> Out", "Alpha:f|d=1, Beta:f|d=1", kPure, nullptr},
    {"addmm_grad", "Input?, Out@GRAD, X?, Y? -> Input@GRAD?, X@GRAD?, Y@GRAD?",
     "Alpha:f|d=1, Beta:f|d=1", kPure, nullptr},
    {"bilinear_tensor_product", "X, Y, Weight, Bias? -> Out", "", kPure, nullptr},
    {"bilinear_tensor_product_grad",
     "Out@GRAD, Weight, X, Y -> Bias@GRAD?, Weight@GRAD?, X@GRAD?, Y@GRAD?", "", kPure, nullptr},
    {"cross", "X, Y -> Out", "dim:i=9", kPure, nullptr},
    {"cross_grad", "Out@GRAD, X?, Y? -> X@GRAD?, Y@GRAD?", "dim:i=9", kPure, nullptr},
    {"kron", "X, Y -> Out", "", kPure, nullptr},
    {"kron_grad", "Out@GRAD, X?, Y? -> X@GRAD?, Y@GRAD?", "", kPure, nullptr},
    {"cholesky", "X -> Out", "upper:b=false", kPure, nullptr},
    {"cholesky_grad", "Out?, Out@GRAD -> X@GRAD?", "upper:b=false", kPure, nullptr},
    {"inverse", "Input -> Output", "", kPure, nullptr},
    {"inverse_grad", "Output?, Output@GRAD -> Input@GRAD?", "", kPure, nullptr},
    {"determinant", "Input -> Out", "", kPure, nullptr},
    {"determinant_grad", "Input?, Out?, Out@GRAD -> Input@GRAD?", "", kPure, nullptr},
    {"slogdeterminant", "Input -> Out", "", kPure, nullptr},
    {"trace", "Input -> Out", kTraceAttributes, kPure, nullptr},
    {"trace_grad", "Input?, Out@GRAD -> Input@GRAD?", kTraceAttributes, kPure, nullptr},
    {"dist", "X, Y -> Out", "p:f=2", kPure, nullptr},
    {"dist_grad", "Out?, Out@GRAD, X?, Y? -> X@GRAD?, Y@GRAD?", "p:f=2", kPure, nullptr},
    {"norm", "X -> Norm, Out", "axis:i, epsilon:f=1e-10, is_test:b=false", kPure, nullptr},
    {"norm_grad", "Norm?, Out@GRAD, X? -> X@GRAD?", "axis:i, epsilon:f=1e-10, is_test:b=false",
     kPure, nullptr},
    {"p_norm", "X -> Out", kPNormAttributes, kPure, nullptr},
    {"p_norm_grad", "Out?, Out@GRAD, X? -> X@GRAD?", kPNormAttributes, kPure, nullptr},
    {"frobenius_norm", "X -> Out", kFrobeniusNormAttributes, kPure, nullptr},
    {"frobenius_norm_grad", "Out?, Out@GRAD, X? -> X@GRAD?", kFrobeniusNormAttributes,
     kPure, nullptr},
    {"l1_norm", "X -> Out", "", kPure, nullptr},
    {"l1_norm_grad", "Out@GRAD, X? -> X@GRAD?", "", kPure, nullptr},
    {"squared_l2_norm", "X -> Out", "", kPure, nullptr},
    {"squared_l2_norm_grad", "Out@GRAD, X? -> X@GRAD?", "", kPure, nullptr},
    {"squared_l2_distance", "X, Y -> sub_result, Out", "", kPure, nullptr},
    {"cos_sim", "X, Y -> Out, XNorm, YNorm", "", kPure, nullptr},
    {"cos_sim_grad", "Out?, Out@GRAD, X?, XNorm?, Y?, YNorm? -> X@GRAD?, Y@GRAD?", "",
     kPure, nullptr},
    {"einsum", "Operands+ -> Out, InnerCache*, XShape*", "equation:s", kPure, nullptr},
    {"einsum_grad", "InnerCache*, Out@GRAD, x_shape* -> Operands@GRAD*", "equation:s",
     kPure, nullptr},
    {"fsp", "X, Y -> Out", "", kPure, nullptr},
    {"fsp_grad", "Out@GRAD, X?, Y? -> X@GRAD?, Y@GRAD?", "", kPure, nullptr},
};

}  // namespace

Family linearAlgebraFamily() { return {"linear_algebra", kRows}; }

}  // namespace dtranspile::pd
