// Kernels of the family `amp`, named in amp_calls.cc.
#pragma once

#include "runtime/kernels/args/amp.h"
#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

int32_t CheckFiniteAndUnscale(OpCall& call);
int32_t UpdateLossScaling(OpCall& call);

}  // namespace dtranspile::kernels
