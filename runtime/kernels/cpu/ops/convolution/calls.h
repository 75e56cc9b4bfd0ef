// Kernels of the family `convolution` that take an op slot by slot, named in convolution_calls.cc.
// Plain convolutions and pooling: conv.h, pool.h.
#pragma once

#include "runtime/kernels/args/convolution.h"
#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

int32_t Unpool(OpCall& call);
int32_t UnpoolGrad(OpCall& call);
int32_t MaxPoolIndexGrad(OpCall& call);
int32_t Spp(OpCall& call);
int32_t SppGrad(OpCall& call);
int32_t ConvShift(OpCall& call);
int32_t ConvShiftGrad(OpCall& call);
int32_t RowConv(OpCall& call);
int32_t RowConvGrad(OpCall& call);
int32_t TreeConv(OpCall& call);
int32_t TreeConvGrad(OpCall& call);
int32_t DeformableConv(OpCall& call);
int32_t DeformableConvGrad(OpCall& call);

}  // namespace dtranspile::kernels
