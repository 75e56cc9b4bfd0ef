// Kernels of the family `normalization`, named in normalization_calls.cc.
#pragma once

#include "runtime/kernels/args/normalization.h"
#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

int32_t Lrn(OpCall& call);
int32_t LrnGrad(OpCall& call);
int32_t SpectralNorm(OpCall& call);
int32_t SpectralNormGrad(OpCall& call);

}  // namespace dtranspile::kernels
