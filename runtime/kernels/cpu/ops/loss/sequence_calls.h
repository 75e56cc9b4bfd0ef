// Kernels of losses on sequences, named in loss_calls.cc. Slots and attributes:
// runtime/kernels/signatures/loss.calls; semantics: docs/operators/sequence.md.
#pragma once

#include "runtime/kernels/args/loss.h"
#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

// crf.cc
int32_t LinearChainCrf(OpCall& call);
int32_t LinearChainCrfGrad(OpCall& call);
int32_t CrfDecoding(OpCall& call);

// ctc.cc
int32_t WarpCtc(OpCall& call);
int32_t WarpCtcGrad(OpCall& call);

}  // namespace dtranspile::kernels
