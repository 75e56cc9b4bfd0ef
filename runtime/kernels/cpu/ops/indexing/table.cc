// Library calls: family `indexing`.
#include "runtime/kernels/cpu/dense_entry.h"
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/ops/indexing/calls.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_gather", DenseEntry<Gather>},
    {"dt_gather_grad", DenseEntry<GatherGrad>},
    {"dt_slice", DenseEntry<Mapped<SliceMap>>},
    {"dt_slice_grad", DenseEntry<MappedGrad<SliceMap>>},
    {"dt_set_value", DenseEntry<SetValue>},
    {"dt_set_value_grad", DenseEntry<SetValueGrad>},
    {"dt_gather_nd", DenseEntry<GatherNd>},
    {"dt_gather_nd_grad", DenseEntry<GatherNdGrad>},
    {"dt_scatter_nd_add", DenseEntry<ScatterNdAdd>},
    {"dt_scatter_nd_add_grad", DenseEntry<ScatterNdAddGrad>},
    {"dt_scatter", DenseEntry<Scatter>},
    {"dt_scatter_grad", DenseEntry<ScatterGrad>},
    {"dt_index_select", DenseEntry<Mapped<IndexSelectMap>>},
    {"dt_index_select_grad", DenseEntry<MappedGrad<IndexSelectMap>>},
    {"dt_take_along_axis", DenseEntry<TakeAlongAxis>},
    {"dt_take_along_axis_grad", DenseEntry<TakeAlongAxisGrad>},
    {"dt_put_along_axis", DenseEntry<PutAlongAxis>},
    {"dt_put_along_axis_grad", DenseEntry<PutAlongAxisGrad>},
    {"dt_masked_select", DenseEntry<MaskedSelect>},
    {"dt_masked_select_grad", DenseEntry<MaskedSelectGrad>},
    {"dt_multiplex", DenseEntry<Multiplex>},
    {"dt_multiplex_grad", DenseEntry<MultiplexGrad>},
    {"dt_shard_index", DenseEntry<ShardIndex>},
    {"dt_gather_tree", DenseEntry<GatherTree>},
    {"dt_tril_triu", DenseEntry<TrilTriu>},
    {"dt_diag", DenseEntry<Diag>},
    {"dt_diag_embed", DenseEntry<DiagEmbed>},
};

}  // namespace

FunctionTable IndexingFunctions() { return kRows; }

}  // namespace dtranspile::kernels
