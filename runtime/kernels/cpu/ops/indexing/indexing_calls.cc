// Library calls: family `indexing`.
#include "runtime/kernels/cpu/dense_entry.h"
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/ops/indexing/calls.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_gather", DenseEntry<Gather>, kAnyType},
    {"dt_gather_grad", DenseEntry<GatherGrad>, kNumbers},
    {"dt_slice", DenseEntry<Mapped<SliceMap>>, kAnyType},
    {"dt_slice_grad", DenseEntry<MappedGrad<SliceMap>>, kAnyType},
    {"dt_set_value", DenseEntry<SetValue>, kAnyType},
    {"dt_set_value_grad", DenseEntry<SetValueGrad>, kNumbers},
    {"dt_gather_nd", DenseEntry<GatherNd>, kAnyType},
    {"dt_gather_nd_grad", DenseEntry<GatherNdGrad>, kNumbers},
    {"dt_scatter_nd_add", DenseEntry<ScatterNdAdd>, kNumbers},
    {"dt_scatter_nd_add_grad", DenseEntry<ScatterNdAddGrad>, kAnyType},
    {"dt_scatter", DenseEntry<Scatter>, kNumbers},
    {"dt_scatter_grad", DenseEntry<ScatterGrad>, kAnyType},
    {"dt_index_select", DenseEntry<Mapped<IndexSelectMap>>, kAnyType},
    {"dt_index_select_grad", DenseEntry<MappedGrad<IndexSelectMap>>, kNumbers},
    {"dt_take_along_axis", DenseEntry<TakeAlongAxis>, kAnyType},
    {"dt_take_along_axis_grad", DenseEntry<TakeAlongAxisGrad>, kNumbers},
    {"dt_put_along_axis", DenseEntry<PutAlongAxis>, kNumbers},
    {"dt_put_along_axis_grad", DenseEntry<PutAlongAxisGrad>, kAnyType},
    {"dt_masked_select", DenseEntry<MaskedSelect>, kAnyType},
    {"dt_masked_select_grad", DenseEntry<MaskedSelectGrad>, kNumbers},
    {"dt_multiplex", DenseEntry<Multiplex>, kAnyType},
    {"dt_multiplex_grad", DenseEntry<MultiplexGrad>, kAnyType},
    {"dt_shard_index", DenseEntry<ShardIndex>, kIndices},
    {"dt_gather_tree", DenseEntry<GatherTree>, kIndices},
    {"dt_index_add", DenseEntry<IndexAdd>, kNumbers},
    {"dt_index_add_grad", DenseEntry<IndexAddGrad>, kNumbers},
    {"dt_segment_pool", DenseEntry<SegmentPool>, kNumbers},
    {"dt_segment_pool_grad", DenseEntry<SegmentPoolGrad>, kNumbers},
    {"dt_send_receive", DenseEntry<SendReceive>, kNumbers},
    {"dt_send_receive_grad", DenseEntry<SendReceiveGrad>, kNumbers},
    {"dt_tril_triu", DenseEntry<TrilTriu>, kAnyType},
    {"dt_diag", DenseEntry<Diag>, kAnyType},
    {"dt_diag_grad", DenseEntry<DiagGrad>, kAnyType},
    {"dt_diag_embed", DenseEntry<DiagEmbed>, kAnyType},
    {"dt_fill_diagonal", DenseEntry<FillDiagonal>, kReals},
    {"dt_fill_diagonal_grad", DenseEntry<FillDiagonalGrad>, kAnyType},
    {"dt_fill_diagonal_tensor", DenseEntry<FillDiagonalTensor>, kAnyType},
    {"dt_fill_diagonal_tensor_grad", DenseEntry<FillDiagonalTensorGrad>, kAnyType},
    {"dt_send_both", DenseEntry<SendBoth>, kNumbers},
    {"dt_send_both_grad", DenseEntry<SendBothGrad>, kNumbers},
    {"dt_send_edges", DenseEntry<SendEdges>, kNumbers},
    {"dt_send_edges_grad", DenseEntry<SendEdgesGrad>, kNumbers},
    {"dt_index_put", DenseEntry<IndexPut>, kPlain},
    {"dt_index_put_grad", DenseEntry<IndexPutGrad>, kNumbers},
};

}  // namespace

FunctionTable IndexingFunctions() { return kRows; }

}  // namespace dtranspile::kernels
