// Kernels of the family `tensor_array`, named in tensor_array_calls.cc, and those with which the
// lowering of loops keeps and adds up values (compiler/lower/block_lowering.h). Slots and
// attributes: runtime/kernels/signatures/tensor_array.calls.
//
// A rank table is a tensor value, int64 [n, 2]: a row (index of the sequence, its length) per
// sequence, longest first, equal ones in their order. Its LoD is that of the tensor it was made
// from, down to the level it sorts.
#pragma once

#include "runtime/kernels/args/tensor_array.h"
#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

// array.cc
int32_t ArrayLength(OpCall& call);
int32_t ReadFromArray(OpCall& call);
int32_t WriteToArray(OpCall& call);

// join.cc
int32_t ArrayToTensor(OpCall& call);
int32_t ArrayToTensorGrad(OpCall& call);

// rank_table.cc
int32_t LodRankTable(OpCall& call);
int32_t MaxSequenceLen(OpCall& call);
int32_t LodTensorToArray(OpCall& call);
int32_t ArrayToLodTensor(OpCall& call);
int32_t ShrinkMemory(OpCall& call);
int32_t ShrinkMemoryGrad(OpCall& call);
int32_t ReorderByRank(OpCall& call);
int32_t ReorderByRankGrad(OpCall& call);

// split_merge.cc
int32_t SplitLodTensor(OpCall& call);
int32_t MergeLodTensor(OpCall& call);

// carried.cc
int32_t MemoryHelperGrad(OpCall& call);  // (Out@GRAD, X) -> X@GRAD
int32_t Accumulate(OpCall& call);        // (Value) -> Acc: Acc += Value; lists item by item
int32_t ZerosLike(OpCall& call);         // (X) -> Out: a list without items for lists
int32_t ListClear(OpCall& call);         // () -> List
int32_t ListPush(OpCall& call);          // (X) -> List
int32_t ListPop(OpCall& call);           // () -> List, Out: the last item
int32_t ListAny(OpCall& call);           // (List) -> Any: whether it has items
int32_t Row(OpCall& call);               // (X, Index) -> Out: X[Index]
int32_t SetRow(OpCall& call);  // (X, Index, Like) -> Out: Out[Index] = X, as many rows as Like has

// list_rows.cc
int32_t ListRows(OpCall& call);  // (List) -> Out: the items one after the other, whose rows are
                                 // whose in its LoD

// The one element of an index tensor; false with a message.
bool IndexOf(OpCall& call, const DtBuffer& buffer, int64_t& index);

}  // namespace dtranspile::kernels
