// Rows of the op table: family `linear_algebra`. Notation: op_table.h; read by op_table.cc.

#include "dialects/pd/ops/families.h"
#include "dialects/pd/ops/infer_common.h"
#include "dialects/pd/ops/infer_linear_algebra.h"
#include "dialects/pd/ops/infer_reduction.h"

namespace dtranspile::pd {
namespace {

constexpr const char* kMulAttributes =
    "x_num_col_dims:i=1, y_num_col_dims:i=1, scale_x:f~=1, scale_y:fs~={1}, scale_out:f~=1";

constexpr const char* kMatmulAttributes =
    "transpose_X:b=false, transpose_Y:b=false, alpha:f=1, fused_reshape_Out:is={}, "
    "fused_transpose_Out:is={}, head_number:i=1";

constexpr const char* kTraceAttributes = "offset:i=0, dim1:i=-2, dim2:i=-1, axis1:i=0, axis2:i=1";

constexpr const char* kDiagonalAttributes = "offset:i=0, axis1:i=0, axis2:i=1";

constexpr const char* kTriangularAttributes =
    "upper:b=true, transpose:b=false, unitriangular:b=false";

constexpr const char* kStftAttributes = "n_fft:i, hop_length:i, normalized:b, onesided:b";

constexpr const char* kPNormAttributes =
    "porder:f=2, axis:i=-1, epsilon:f=1e-12, keepdim:b=false, asvector:b=false@1";

constexpr const char* kFrobeniusNormAttributes =
    "dim:is={0}, keep_dim:b=false, reduce_all:b=false, in_dtype:i=-1, out_dtype:i=-1";

const OpRow kRows[] = {
    {"mul", "X, Y -> Out", kMulAttributes, kPure, inferMul, kMulConstraints},
    {"mul_grad", "Out@GRAD, X, Y -> X@GRAD?, Y@GRAD?", kMulAttributes, kPure, inferGradients},
    {"matmul", "X, Y -> Out", kMatmulAttributes, kPure, inferMatmul, kMatmulConstraints},
    {"matmul_grad", "Out@GRAD, X, Y -> X@GRAD?, Y@GRAD?", kMatmulAttributes, kPure, inferGradients},
    {"matmul_v2", "X, Y -> Out", "trans_x:b=false, trans_y:b=false", kPure, inferMatmulV2,
     kMatmulV2Constraints},
    {"matmul_v2_grad", "Out@GRAD, X?, Y? -> X@GRAD?, Y@GRAD?", "trans_x:b=false, trans_y:b=false",
     kPure, inferGradients},
    {"matmul_v2_grad_grad",
     "X, Y, grad_out, grad_x@GRAD?, grad_y@GRAD? -> X@GRAD?, Y@GRAD?, grad_out@GRAD?",
     "trans_x:b=false, trans_y:b=false", kPure, inferGradients},
    {"matmul_v2_triple_grad",
     "X, Y, grad_out, grad_grad_x?, grad_grad_y?, grad_x@GRAD?, grad_y@GRAD?, grad_grad_out@GRAD? "
     "-> X@GRAD?, Y@GRAD?, grad_out@GRAD?, grad_grad_x@GRAD?, grad_grad_y@GRAD?",
     "trans_x:b=false, trans_y:b=false", kPure, inferMatmulThirdGradient},
    {"mul_grad_grad", "X, Y, DOut, DDX?, DDY? -> DX?, DY?, DDOut?", kMulAttributes, kGradient,
     inferMulSecondGrad},
    {"bmm", "X, Y -> Out", "", kPure, inferBmm},
    {"bmm_grad", "Out@GRAD, X?, Y? -> X@GRAD?, Y@GRAD?", "", kPure, inferGradients},
    {"mv", "X, Vec -> Out", "", kPure, inferMv},
    {"mv_grad", "Out@GRAD, Vec?, X? -> Vec@GRAD?, X@GRAD?", "", kPure, inferGradients},
    {"dot", "X, Y -> Out", "", kPure, inferDot},
    {"dot_grad", "Out@GRAD, X?, Y? -> X@GRAD?, Y@GRAD?", "", kPure, inferGradients},
    {"addmm", "Input, X, Y -> Out", "Alpha:f|d=1, Beta:f|d=1", kPure, inferAddmm},
    {"addmm_grad", "Input?, Out@GRAD, X?, Y? -> Input@GRAD?, X@GRAD?, Y@GRAD?",
     "Alpha:f|d=1, Beta:f|d=1", kPure, inferGradients},
    {"bilinear_tensor_product", "X, Y, Weight, Bias? -> Out", "", kPure, inferBilinearProduct},
    {"bilinear_tensor_product_grad",
     "Out@GRAD, Weight, X, Y -> Bias@GRAD?, Weight@GRAD?, X@GRAD?, Y@GRAD?", "", kPure,
     inferBilinearProductGrad},
    {"cross", "X, Y -> Out", "dim:i=9", kPure, inferSame<"X", "Out">},
    {"cross_grad", "Out@GRAD, X?, Y? -> X@GRAD?, Y@GRAD?", "dim:i=9", kPure, inferGradients},
    {"kron", "X, Y -> Out", "", kPure, inferKron},
    {"kron_grad", "Out@GRAD, X?, Y? -> X@GRAD?, Y@GRAD?", "", kPure, inferGradients},
    {"cholesky", "X -> Out", "upper:b=false", kPure, inferSame<"X", "Out">},
    {"cholesky_grad", "Out?, Out@GRAD -> X@GRAD?", "upper:b=false", kPure,
     inferSame<"Out@GRAD", "X@GRAD">},
    {"cholesky_solve", "X, Y -> Out", "upper:b=false", kPure, inferCholeskySolve},
    {"cholesky_solve_grad", "X, Y, Out, Out@GRAD -> X@GRAD?, Y@GRAD?", "upper:b=false", kPure,
     inferGradients},
    {"multi_dot", "X+ -> Out", "", kPure, inferMultiDot},
    {"multi_dot_grad", "X+, Out@GRAD -> X@GRAD*", "", kPure, inferGradients},
    {"qr", "X -> Q, R", "mode:s=reduced", kPure, inferQr},
    {"qr_grad", "X, Q, R, Q@GRAD?, R@GRAD? -> X@GRAD?", "mode:s=reduced", kPure,
     inferSame<"X", "X@GRAD">},
    {"matrix_rank", "X, TolTensor? -> Out", "tol:f=0, use_default_tol:b=true, hermitian:b=false",
     kPure, inferMatrixRank},
    {"stft", "X, Window -> Out", kStftAttributes, kPure, inferStft},
    {"stft_grad", "X, Window, Out@GRAD -> X@GRAD?", kStftAttributes, kPure,
     inferSame<"X", "X@GRAD">},
    {"lu", "X -> Out, Pivots, Infos", "pivots:b=true", kPure, inferLu},
    {"lu_grad", "X, Out, Pivots, Out@GRAD -> X@GRAD?", "pivots:b=true", kPure,
     inferSame<"X", "X@GRAD">},
    {"lu_unpack", "X, Pivots -> Pmat, L, U", "unpack_ludata:b=true, unpack_pivots:b=true", kPure,
     inferLuUnpack},
    {"lu_unpack_grad", "X, Pivots, L?, U?, Pmat?, L@GRAD, U@GRAD -> X@GRAD?",
     "unpack_ludata:b=true, unpack_pivots:b=true", kPure, inferSame<"X", "X@GRAD">},
    {"eigh", "X -> Eigenvalues, Eigenvectors", "UPLO:s=L", kPure, inferEigh},
    {"eigh_grad", "Eigenvalues, Eigenvalues@GRAD?, Eigenvectors, Eigenvectors@GRAD? -> X@GRAD?",
     "UPLO:s=L", kPure, inferSame<"Eigenvectors", "X@GRAD">},
    {"eigvalsh", "X -> Eigenvalues, Eigenvectors?", "UPLO:s=L, is_test:b=false", kPure, inferEigh},
    {"eigvalsh_grad", "Eigenvalues@GRAD, Eigenvectors -> X@GRAD?", "UPLO:s=L, is_test:b=false",
     kPure, inferSame<"Eigenvectors", "X@GRAD">},
    {"svd", "X -> S, U, VH", "full_matrices:b=false", kPure, inferSvd},
    {"svd_grad", "S, S@GRAD?, U, U@GRAD?, VH, VH@GRAD?, X -> X@GRAD?", "full_matrices:b=false",
     kPure, inferSame<"X", "X@GRAD">},
    {"renorm", "X -> Out", "p:f, axis:i, max_norm:f", kPure, inferSame<"X", "Out">},
    {"renorm_grad", "Out@GRAD, X -> X@GRAD?", "p:f, axis:i, max_norm:f", kPure,
     inferSame<"X", "X@GRAD">},
    {"inverse", "Input -> Output", "", kPure, inferSame<"Input", "Output">},
    {"inverse_grad", "Output?, Output@GRAD -> Input@GRAD?", "", kPure,
     inferSame<"Output@GRAD", "Input@GRAD">},
    {"determinant", "Input -> Out", "", kPure, inferDeterminant},
    {"determinant_grad", "Input?, Out?, Out@GRAD -> Input@GRAD?", "", kPure, inferGradients},
    {"slogdeterminant", "Input -> Out", "", kPure, inferDeterminant},
    {"slogdeterminant_grad", "Input, Out?, Out@GRAD -> Input@GRAD?", "", kPure, inferGradients},
    {"trace", "Input -> Out", kTraceAttributes, kPure, inferTrace},
    {"trace_grad", "Input?, Out@GRAD -> Input@GRAD?", kTraceAttributes, kPure, inferGradients},
    {"diagonal", "Input -> Out", kDiagonalAttributes, kPure, inferDiagonal},
    {"diagonal_grad", "Input, Out@GRAD -> Input@GRAD?", kDiagonalAttributes, kPure, inferGradients},
    {"matrix_power", "X -> Out", "n:i", kPure, inferSame<"X", "Out">},
    {"matrix_power_grad", "X, Out?, Out@GRAD -> X@GRAD?", "n:i", kPure, inferSame<"X", "X@GRAD">},
    {"fft_c2c", "X -> Out", "axes:ls, normalization:s, forward:b", kPure, inferSame<"X", "Out">},
    {"fft_c2c_grad", "Out@GRAD -> X@GRAD?", "axes:ls, normalization:s, forward:b", kPure,
     inferSame<"Out@GRAD", "X@GRAD">},
    {"fft_r2c", "X -> Out", "axes:ls, normalization:s, forward:b, onesided:b", kPure, inferFft},
    {"fft_r2c_grad", "X, Out@GRAD -> X@GRAD?", "axes:ls, normalization:s, forward:b, onesided:b",
     kPure, inferGradients},
    {"fft_c2r", "X -> Out", "axes:ls, normalization:s, forward:b, last_dim_size:l=0", kPure,
     inferFft},
    {"fft_c2r_grad", "Out@GRAD -> X@GRAD?",
     "axes:ls, normalization:s, forward:b, last_dim_size:l=0", kPure, inferFft},
    {"solve", "X, Y -> Out", "", kPure, inferSame<"Y", "Out">},
    {"solve_grad", "Out, Out@GRAD, X, Y -> X@GRAD?, Y@GRAD?", "", kPure, inferGradients},
    {"triangular_solve", "X, Y -> Out", kTriangularAttributes, kPure, inferSame<"Y", "Out">},
    {"triangular_solve_grad", "Out, Out@GRAD, X, Y -> X@GRAD?, Y@GRAD?", kTriangularAttributes,
     kPure, inferGradients},
    {"dist", "X, Y -> Out", "p:f=2", kPure, inferDist},
    {"dist_grad", "Out?, Out@GRAD, X?, Y? -> X@GRAD?, Y@GRAD?", "p:f=2", kPure, inferGradients},
    {"norm", "X -> Norm, Out", "axis:i, epsilon:f=1e-10, is_test:b=false", kPure, inferNorm},
    {"norm_grad", "Norm?, Out@GRAD, X? -> X@GRAD?", "axis:i, epsilon:f=1e-10, is_test:b=false",
     kPure, inferGradients},
    {"p_norm", "X -> Out", kPNormAttributes, kPure, inferPNorm},
    {"p_norm_grad", "Out?, Out@GRAD, X? -> X@GRAD?", kPNormAttributes, kPure, inferGradients},
    {"frobenius_norm", "X -> Out", kFrobeniusNormAttributes, kPure, inferReduce},
    {"frobenius_norm_grad", "Out?, Out@GRAD, X? -> X@GRAD?", kFrobeniusNormAttributes, kPure,
     inferGradients},
    {"l1_norm", "X -> Out", "", kPure, inferOneElement},
    {"l1_norm_grad", "Out@GRAD, X? -> X@GRAD?", "", kPure, inferGradients},
    {"squared_l2_norm", "X -> Out", "", kPure, inferOneElement},
    {"squared_l2_norm_grad", "Out@GRAD, X? -> X@GRAD?", "", kPure, inferGradients},
    {"squared_l2_distance_grad", "Out@GRAD, X?, Y?, sub_result -> X@GRAD?, Y@GRAD?", "", kPure,
     inferGradients},
    {"squared_l2_distance", "X, Y -> sub_result, Out", "", kPure, inferRowDistance},
    {"cos_sim", "X, Y -> Out, XNorm, YNorm", "", kPure, inferRowDistance},
    {"cos_sim_grad", "Out?, Out@GRAD, X?, XNorm?, Y?, YNorm? -> X@GRAD?, Y@GRAD?", "", kPure,
     inferGradients},
    {"einsum", "Operands+ -> Out, InnerCache*, XShape*", "equation:s", kPure, inferEinsum},
    {"einsum_grad", "InnerCache*, Out@GRAD, x_shape* -> Operands@GRAD*", "equation:s", kPure,
     inferEinsumGrad},
    {"fsp", "X, Y -> Out", "", kPure, inferFsp},
    {"fsp_grad", "Out@GRAD, X?, Y? -> X@GRAD?, Y@GRAD?", "", kPure, inferGradients},
};

}  // namespace

Family linearAlgebraFamily() { return {"linear_algebra", kRows}; }

}  // namespace dtranspile::pd
