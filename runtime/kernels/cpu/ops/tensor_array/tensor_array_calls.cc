// Library calls: family `tensor_array`.
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/ops/tensor_array/calls.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_lod_array_length", Entry<ArrayLength>, kAnyType},
    {"dt_read_from_array", Entry<ReadFromArray>, kAnyType},
    {"dt_write_to_array", Entry<WriteToArray>, kAnyType},
    {"dt_tensor_array_to_tensor", Entry<ArrayToTensor>, kAnyType},
    {"dt_tensor_array_to_tensor_grad", Entry<ArrayToTensorGrad>, kAnyType},
    {"dt_lod_rank_table", Entry<LodRankTable>, kAnyType},
    {"dt_max_sequence_len", Entry<MaxSequenceLen>, kAnyType},
    {"dt_lod_tensor_to_array", Entry<LodTensorToArray>, kAnyType},
    {"dt_array_to_lod_tensor", Entry<ArrayToLodTensor>, kAnyType},
    {"dt_shrink_rnn_memory", Entry<ShrinkMemory>, kAnyType},
    {"dt_shrink_rnn_memory_grad", Entry<ShrinkMemoryGrad>, kAnyType},
    {"dt_reorder_lod_tensor_by_rank", Entry<ReorderByRank>, kAnyType},
    {"dt_reorder_lod_tensor_by_rank_grad", Entry<ReorderByRankGrad>, kAnyType},
    {"dt_split_lod_tensor", Entry<SplitLodTensor>, kAnyType},
    {"dt_merge_lod_tensor", Entry<MergeLodTensor>, kAnyType},
    {"dt_rnn_memory_helper_grad", Entry<MemoryHelperGrad>, kAnyType},
    {"dt_accumulate", Entry<Accumulate>, kNumbers},
    {"dt_zeros_like", Entry<ZerosLike>, kAnyType},
    {"dt_list_clear", Entry<ListClear>, kAnyType},
    {"dt_list_push", Entry<ListPush>, kAnyType},
    {"dt_list_pop", Entry<ListPop>, kAnyType},
    {"dt_list_any", Entry<ListAny>, kAnyType},
    {"dt_list_rows", Entry<ListRows>, kAnyType},
    {"dt_row", Entry<Row>, kAnyType},
    {"dt_set_row", Entry<SetRow>, kAnyType},
};

}  // namespace

FunctionTable TensorArrayFunctions() { return kRows; }

}  // namespace dtranspile::kernels
