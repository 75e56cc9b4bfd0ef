// Calls of plans that move or convert elements of any type (signatures/shape.calls).
#pragma once

#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

// Of at most 8 dimensions; the gradient is moved back.
int32_t Transpose(OpCall& call);
int32_t TransposeBack(OpCall& call);

// C conversion; to bool: != 0; float16 and bfloat16 round to nearest even; not for complex types.
int32_t Cast(OpCall& call);

}  // namespace dtranspile::kernels
