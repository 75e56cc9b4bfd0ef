// Library calls: family `normalization`.
#include "runtime/kernels/cpu/ops/normalization/calls.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_lrn", Entry<Lrn>},
    {"dt_lrn_grad", Entry<LrnGrad>},
    {"dt_spectral_norm", Entry<SpectralNorm>},
    {"dt_spectral_norm_grad", Entry<SpectralNormGrad>},
};

}  // namespace

FunctionTable NormalizationFunctions() { return kRows; }

}  // namespace dtranspile::kernels
