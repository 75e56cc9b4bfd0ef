// Kernels of the family `activation`, named in activation_calls.cc.
#pragma once

#include "runtime/kernels/args/activation.h"
#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

int32_t Complex(OpCall& call);
int32_t ComplexGrad(OpCall& call);
int32_t ComplexPart(OpCall& call);
int32_t ComplexPartGrad(OpCall& call);
int32_t NextAfter(OpCall& call);
int32_t PolygammaGrad(OpCall& call);
int32_t PolygammaOf(OpCall& call);
int32_t Special(OpCall& call);
int32_t SpecialGrad(OpCall& call);

}  // namespace dtranspile::kernels
