// Kernels of the family `embedding`, named in embedding_calls.cc. Slots and attributes:
// runtime/kernels/signatures/embedding.calls; of SelectedRows also elementwise.cc, optimizer.cc.
#pragma once

#include "runtime/kernels/args/embedding.h"
#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

// lookup.cc
int32_t LookupTable(OpCall& call);
int32_t LookupTableGrad(OpCall& call);
int32_t OneHot(OpCall& call);

// selected_rows.cc
int32_t MergeSelectedRows(OpCall& call);
int32_t ValuesOfRows(OpCall& call);
int32_t RowsToDense(OpCall& call);
int32_t SumRows(OpCall& call);
int32_t ScaleRows(OpCall& call);
int32_t MultiplyRows(OpCall& call);
int32_t ClipRows(OpCall& call);
int32_t ClipRowsByNorm(OpCall& call);

// features.cc
int32_t AddPositionEncoding(OpCall& call);
int32_t Cvm(OpCall& call);
int32_t CvmGrad(OpCall& call);
int32_t FilterByInstag(OpCall& call);
int32_t Hash(OpCall& call);
int32_t SimilarityFocus(OpCall& call);

// hierarchical_sigmoid.cc
int32_t HierarchicalSigmoid(OpCall& call);
int32_t HierarchicalSigmoidGrad(OpCall& call);

// nce.cc
int32_t Nce(OpCall& call);
int32_t NceGrad(OpCall& call);

// sample_logits.cc
int32_t SampleLogits(OpCall& call);
int32_t SampleLogitsGrad(OpCall& call);

}  // namespace dtranspile::kernels
