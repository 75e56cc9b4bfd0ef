// Kernels of the family `indexing`, named in table.cc.
#pragma once

#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

int32_t Gather(OpCall& call);
int32_t GatherGrad(OpCall& call);

}  // namespace dtranspile::kernels
