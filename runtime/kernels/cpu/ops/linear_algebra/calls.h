// Kernels of the family `linear_algebra`, named in table.cc.
#pragma once

#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

int32_t Mul(OpCall& call);
int32_t MulGrad(OpCall& call);

}  // namespace dtranspile::kernels
