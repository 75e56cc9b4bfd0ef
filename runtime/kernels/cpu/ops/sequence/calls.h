// Kernels of the family `sequence`, named in sequence_calls.cc. Slots and attributes:
// runtime/kernels/signatures/sequence.calls; semantics: docs/operators/sequence.md.
#pragma once

#include "runtime/kernels/args/sequence.h"
#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

// pool.cc: one sequence to one row, probabilities inside a sequence
int32_t SequencePool(OpCall& call);
int32_t SequencePoolGrad(OpCall& call);
int32_t SequenceSoftmax(OpCall& call);
int32_t SequenceSoftmaxGrad(OpCall& call);

// topk_pooling.cc
int32_t SequenceTopkAvgPooling(OpCall& call);
int32_t SequenceTopkAvgPoolingGrad(OpCall& call);

// conv.cc
int32_t SequenceConv(OpCall& call);
int32_t SequenceConvGrad(OpCall& call);

// expand.cc
int32_t SequenceExpand(OpCall& call);
int32_t SequenceExpandGrad(OpCall& call);
int32_t SequenceExpandAs(OpCall& call);
int32_t SequenceExpandAsGrad(OpCall& call);

// pad.cc
int32_t SequencePad(OpCall& call);
int32_t SequencePadGrad(OpCall& call);
int32_t SequenceUnpad(OpCall& call);
int32_t SequenceUnpadGrad(OpCall& call);
int32_t SequenceMask(OpCall& call);

// move.cc
int32_t SequenceReverse(OpCall& call);
int32_t SequenceConcat(OpCall& call);
int32_t SequenceConcatGrad(OpCall& call);
int32_t SequenceSlice(OpCall& call);
int32_t SequenceSliceGrad(OpCall& call);
int32_t SequenceReshape(OpCall& call);
int32_t SequenceReshapeGrad(OpCall& call);
int32_t SequenceScatter(OpCall& call);
int32_t SequenceScatterGrad(OpCall& call);
int32_t ShareLod(OpCall& call);
int32_t LodReset(OpCall& call);
int32_t LodResetGrad(OpCall& call);

// tokens.cc
int32_t SequenceErase(OpCall& call);
int32_t SequenceEnumerate(OpCall& call);
int32_t CtcAlign(OpCall& call);
int32_t EditDistance(OpCall& call);

// Memory for `count` elements of a result that nobody reads; null, with an error, where there is
// none.
template <typename T>
T* ScratchOf(OpCall& call, int64_t count) {
  return static_cast<T*>(
      dt_scratch(call.context(), (count < 1 ? 1 : count) * static_cast<int64_t>(sizeof(T))));
}

}  // namespace dtranspile::kernels
