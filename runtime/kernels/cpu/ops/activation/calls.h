// Kernels of the family `activation`, named in activation_calls.cc.
#pragma once

#include "runtime/kernels/args/activation.h"
#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

// causal.cc
int32_t CausalSoftmax(OpCall& call);

int32_t Complex(OpCall& call);
int32_t ComplexAbs(OpCall& call);
int32_t ComplexAbsGrad(OpCall& call);
int32_t ComplexAngle(OpCall& call);
int32_t ComplexAngleGrad(OpCall& call);
int32_t ComplexBinary(OpCall& call);
int32_t ComplexBinaryGrad(OpCall& call);
int32_t ComplexCast(OpCall& call);
int32_t ComplexGrad(OpCall& call);
int32_t ComplexPart(OpCall& call);
int32_t ComplexPartGrad(OpCall& call);
int32_t ComplexReduce(OpCall& call);
int32_t ComplexReduceGrad(OpCall& call);
int32_t ComplexScale(OpCall& call);
int32_t ComplexSum(OpCall& call);
int32_t ComplexView(OpCall& call);
int32_t NextAfter(OpCall& call);
int32_t PolygammaGrad(OpCall& call);
int32_t PolygammaOf(OpCall& call);
int32_t Special(OpCall& call);
int32_t SpecialGrad(OpCall& call);

}  // namespace dtranspile::kernels
