// Kernels of recurrent ops on sequences with LoD, named in recurrent_calls.cc. Slots and
// attributes: runtime/kernels/signatures/recurrent.calls; semantics: docs/operators/sequence.md.
#pragma once

#include "runtime/kernels/args/recurrent.h"
#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

// lod_lstm.cc, lod_lstm_grad.cc
int32_t LodLstm(OpCall& call);
int32_t LodLstmGrad(OpCall& call);

// lod_gru.cc
int32_t LodGru(OpCall& call);
int32_t LodGruGrad(OpCall& call);

// beam_search.cc
int32_t BeamSearch(OpCall& call);
int32_t BeamSearchDecode(OpCall& call);

}  // namespace dtranspile::kernels
