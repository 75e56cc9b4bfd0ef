// Library calls: family `linear_algebra`.
#include "runtime/kernels/cpu/gemm.h"
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/ops/linear_algebra/calls.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_bilinear_product", Entry<BilinearProduct>, kFloats},
    {"dt_bilinear_product_grad", Entry<BilinearProductGrad>, kFloats},
    {"dt_cholesky", Entry<Cholesky>, kFloats},
    {"dt_cholesky_grad", Entry<CholeskyGrad>, kFloats},
    {"dt_cholesky_solve", Entry<CholeskySolve>, kFloats},
    {"dt_cholesky_solve_grad", Entry<CholeskySolveGrad>, kFloats},
    {"dt_complex_matmul", Entry<ComplexMatmul>, kComplex},
    {"dt_complex_matmul_grad", Entry<ComplexMatmulGrad>, kComplex},
    {"dt_cross", Entry<Cross>, kNumbers},
    {"dt_cross_grad", Entry<CrossGrad>, kNumbers},
    {"dt_determinant", Entry<Determinant>, kFloats},
    {"dt_determinant_grad", Entry<DeterminantGrad>, kFloats},
    {"dt_diagonal", Entry<Diagonal>, kNumbers},
    {"dt_diagonal_grad", Entry<DiagonalGrad>, kNumbers},
    {"dt_eigh", Entry<Eigh>, kFloats},
    {"dt_eigh_grad", Entry<EighGrad>, kFloats},
    {"dt_eigvalsh_grad", Entry<EigvalshGrad>, kFloats},
    {"dt_einsum", Entry<Einsum>, kFloats},
    {"dt_einsum_grad", Entry<EinsumGrad>, kFloats},
    {"dt_fft", Entry<Fft>, kFloats | kComplex},
    {"dt_gemm", Entry<Gemm>, kFloats},
    {"dt_inverse", Entry<Inverse>, kFloats},
    {"dt_inverse_grad", Entry<InverseGrad>, kFloats},
    {"dt_kron", Entry<Kron>, kNumbers},
    {"dt_kron_grad", Entry<KronGrad>, kNumbers},
    {"dt_lu", Entry<Lu>, kFloats},
    {"dt_lu_grad", Entry<LuGrad>, kFloats},
    {"dt_lu_unpack", Entry<LuUnpack>, kFloats},
    {"dt_lu_unpack_grad", Entry<LuUnpackGrad>, kFloats},
    {"dt_matmul", Entry<Matmul>, kFloats},
    {"dt_matmul_grad", Entry<MatmulGrad>, kFloats},
    {"dt_matrix_power", Entry<MatrixPower>, kFloats},
    {"dt_matrix_power_grad", Entry<MatrixPowerGrad>, kFloats},
    {"dt_matrix_rank", Entry<MatrixRank>, kFloats},
    {"dt_mul", Entry<Mul>, kFloats},
    {"dt_mul_grad", Entry<MulGrad>, kFloats},
    {"dt_multi_dot", Entry<MultiDot>, kFloats},
    {"dt_multi_dot_grad", Entry<MultiDotGrad>, kFloats},
    {"dt_qr", Entry<Qr>, kFloats},
    {"dt_qr_grad", Entry<QrGrad>, kFloats},
    {"dt_renorm", Entry<Renorm>, kFloats},
    {"dt_renorm_grad", Entry<RenormGrad>, kFloats},
    {"dt_sign_log_determinant", Entry<SignLogDeterminant>, kFloats},
    {"dt_sign_log_determinant_grad", Entry<SignLogDeterminantGrad>, kFloats},
    {"dt_solve", Entry<Solve>, kFloats},
    {"dt_solve_grad", Entry<SolveGrad>, kFloats},
    {"dt_stft", Entry<Stft>, kFloats},
    {"dt_stft_grad", Entry<StftGrad>, kFloats},
    {"dt_svd", Entry<Svd>, kFloats},
    {"dt_svd_grad", Entry<SvdGrad>, kFloats},
    {"dt_trace", Entry<Trace>, kNumbers},
    {"dt_trace_grad", Entry<TraceGrad>, kNumbers},
};

}  // namespace

FunctionTable LinearAlgebraFunctions() { return kRows; }

}  // namespace dtranspile::kernels
