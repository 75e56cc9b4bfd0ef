// Kernels of the family `recurrent`, named in recurrent_calls.cc. Slots and attributes:
// runtime/kernels/signatures/recurrent.calls.
#pragma once

#include "runtime/kernels/args/recurrent.h"
#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

// units.cc
int32_t GruUnit(OpCall& call);
int32_t GruUnitGrad(OpCall& call);
int32_t LstmUnit(OpCall& call);
int32_t LstmUnitGrad(OpCall& call);

// rnn.cc
int32_t Rnn(OpCall& call);
int32_t RnnGrad(OpCall& call);

}  // namespace dtranspile::kernels
