// Library calls: family `linear_algebra`.
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/ops/linear_algebra/calls.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_bilinear_product", Entry<BilinearProduct>},
    {"dt_bilinear_product_grad", Entry<BilinearProductGrad>},
    {"dt_cholesky", Entry<Cholesky>},
    {"dt_cholesky_grad", Entry<CholeskyGrad>},
    {"dt_cross", Entry<Cross>},
    {"dt_cross_grad", Entry<CrossGrad>},
    {"dt_determinant", Entry<Determinant>},
    {"dt_determinant_grad", Entry<DeterminantGrad>},
    {"dt_einsum", Entry<Einsum>},
    {"dt_einsum_grad", Entry<EinsumGrad>},
    {"dt_inverse", Entry<Inverse>},
    {"dt_inverse_grad", Entry<InverseGrad>},
    {"dt_kron", Entry<Kron>},
    {"dt_kron_grad", Entry<KronGrad>},
    {"dt_matmul", Entry<Matmul>},
    {"dt_matmul_grad", Entry<MatmulGrad>},
    {"dt_mul", Entry<Mul>},
    {"dt_mul_grad", Entry<MulGrad>},
    {"dt_sign_log_determinant", Entry<SignLogDeterminant>},
    {"dt_trace", Entry<Trace>},
    {"dt_trace_grad", Entry<TraceGrad>},
};

}  // namespace

FunctionTable LinearAlgebraFunctions() { return kRows; }

}  // namespace dtranspile::kernels
