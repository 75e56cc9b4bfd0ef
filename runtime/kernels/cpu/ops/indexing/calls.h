// Kernels of the family `indexing`, named in indexing_calls.cc; slots and attributes in the order
// of runtime/kernels/signatures/indexing.calls.
#pragma once

#include "runtime/kernels/args/indexing.h"
#include "runtime/kernels/cpu/axis_map.h"

namespace dtranspile::kernels {

// gather.cc
int32_t Gather(OpCall& call);
int32_t GatherGrad(OpCall& call);

// slice.cc
bool SliceMap(OpCall& call, const DtBuffer& x, AxisMap& map);
int32_t SetValue(OpCall& call);
int32_t SetValueGrad(OpCall& call);

// nd.cc
int32_t GatherNd(OpCall& call);
int32_t GatherNdGrad(OpCall& call);
int32_t ScatterNdAdd(OpCall& call);
int32_t ScatterNdAddGrad(OpCall& call);
int32_t Scatter(OpCall& call);
int32_t ScatterGrad(OpCall& call);

// along.cc
bool IndexSelectMap(OpCall& call, const DtBuffer& x, AxisMap& map);
int32_t TakeAlongAxis(OpCall& call);
int32_t TakeAlongAxisGrad(OpCall& call);
int32_t PutAlongAxis(OpCall& call);
int32_t PutAlongAxisGrad(OpCall& call);

// select.cc
int32_t MaskedSelect(OpCall& call);
int32_t MaskedSelectGrad(OpCall& call);
int32_t Multiplex(OpCall& call);
int32_t MultiplexGrad(OpCall& call);
int32_t ShardIndex(OpCall& call);
int32_t GatherTree(OpCall& call);

// segments.cc
int32_t IndexAdd(OpCall& call);
int32_t IndexAddGrad(OpCall& call);
int32_t SegmentPool(OpCall& call);
int32_t SegmentPoolGrad(OpCall& call);
int32_t SendReceive(OpCall& call);
int32_t SendReceiveGrad(OpCall& call);

// diagonal.cc
int32_t TrilTriu(OpCall& call);
int32_t Diag(OpCall& call);
int32_t DiagGrad(OpCall& call);
int32_t DiagEmbed(OpCall& call);
int32_t FillDiagonal(OpCall& call);
int32_t FillDiagonalGrad(OpCall& call);
int32_t FillDiagonalTensor(OpCall& call);
int32_t FillDiagonalTensorGrad(OpCall& call);

// messages.cc
int32_t SendBoth(OpCall& call);
int32_t SendBothGrad(OpCall& call);
int32_t SendEdges(OpCall& call);
int32_t SendEdgesGrad(OpCall& call);

// put.cc
int32_t IndexPut(OpCall& call);
int32_t IndexPutGrad(OpCall& call);

}  // namespace dtranspile::kernels
