// Kernels of the family `loss`, named in loss_calls.cc.
#pragma once

#include "runtime/kernels/args/loss.h"
#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

int32_t CenterLoss(OpCall& call);
int32_t Viterbi(OpCall& call);

}  // namespace dtranspile::kernels
