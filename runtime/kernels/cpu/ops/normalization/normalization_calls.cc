// Library calls: family `normalization`.
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/ops/normalization/calls.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_lrn", Entry<Lrn>, kFloats},
    {"dt_lrn_grad", Entry<LrnGrad>, kFloats},
    {"dt_spectral_norm", Entry<SpectralNorm>, kFloats},
    {"dt_spectral_norm_grad", Entry<SpectralNormGrad>, kFloats},
};

}  // namespace

FunctionTable NormalizationFunctions() { return kRows; }

}  // namespace dtranspile::kernels
