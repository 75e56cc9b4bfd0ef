// Kernels of the family `interpolation`, named in interpolation_calls.cc.
#pragma once

#include "runtime/kernels/args/interpolation.h"
#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

int32_t ResizeImage(OpCall& call);
int32_t ResizeImageGrad(OpCall& call);
int32_t GridSample(OpCall& call);
int32_t GridSampleGrad(OpCall& call);
int32_t AffineGrid(OpCall& call);
int32_t AffineGridGrad(OpCall& call);

}  // namespace dtranspile::kernels
