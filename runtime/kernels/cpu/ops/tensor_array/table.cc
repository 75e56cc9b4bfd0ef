// Library calls: family `tensor_array`.
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/ops/tensor_array/calls.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_lod_array_length", Entry<ArrayLength>},
    {"dt_read_from_array", Entry<ReadFromArray>},
    {"dt_write_to_array", Entry<WriteToArray>},
    {"dt_tensor_array_to_tensor", Entry<ArrayToTensor>},
    {"dt_tensor_array_to_tensor_grad", Entry<ArrayToTensorGrad>},
    {"dt_lod_rank_table", Entry<LodRankTable>},
    {"dt_max_sequence_len", Entry<MaxSequenceLen>},
    {"dt_lod_tensor_to_array", Entry<LodTensorToArray>},
    {"dt_array_to_lod_tensor", Entry<ArrayToLodTensor>},
    {"dt_shrink_rnn_memory", Entry<ShrinkMemory>},
    {"dt_shrink_rnn_memory_grad", Entry<ShrinkMemoryGrad>},
    {"dt_reorder_lod_tensor_by_rank", Entry<ReorderByRank>},
    {"dt_reorder_lod_tensor_by_rank_grad", Entry<ReorderByRankGrad>},
    {"dt_split_lod_tensor", Entry<SplitLodTensor>},
    {"dt_merge_lod_tensor", Entry<MergeLodTensor>},
    {"dt_rnn_memory_helper_grad", Entry<MemoryHelperGrad>},
    {"dt_accumulate", Entry<Accumulate>},
    {"dt_zeros_like", Entry<ZerosLike>},
    {"dt_list_clear", Entry<ListClear>},
    {"dt_list_push", Entry<ListPush>},
    {"dt_list_pop", Entry<ListPop>},
    {"dt_list_any", Entry<ListAny>},
    {"dt_list_rows", Entry<ListRows>},
    {"dt_row", Entry<Row>},
    {"dt_set_row", Entry<SetRow>},
};

}  // namespace

FunctionTable TensorArrayFunctions() { return kRows; }

}  // namespace dtranspile::kernels
