// Library calls: family `indexing`.
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/ops/indexing/calls.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_gather", Entry<Gather>},
    {"dt_gather_grad", Entry<GatherGrad>},
    {"dt_slice", Entry<Mapped<SliceMap>>},
    {"dt_slice_grad", Entry<MappedGrad<SliceMap>>},
    {"dt_set_value", Entry<SetValue>},
    {"dt_set_value_grad", Entry<SetValueGrad>},
    {"dt_gather_nd", Entry<GatherNd>},
    {"dt_gather_nd_grad", Entry<GatherNdGrad>},
    {"dt_scatter_nd_add", Entry<ScatterNdAdd>},
    {"dt_scatter_nd_add_grad", Entry<ScatterNdAddGrad>},
    {"dt_scatter", Entry<Scatter>},
    {"dt_scatter_grad", Entry<ScatterGrad>},
    {"dt_index_select", Entry<Mapped<IndexSelectMap>>},
    {"dt_index_select_grad", Entry<MappedGrad<IndexSelectMap>>},
    {"dt_take_along_axis", Entry<TakeAlongAxis>},
    {"dt_take_along_axis_grad", Entry<TakeAlongAxisGrad>},
    {"dt_put_along_axis", Entry<PutAlongAxis>},
    {"dt_put_along_axis_grad", Entry<PutAlongAxisGrad>},
    {"dt_masked_select", Entry<MaskedSelect>},
    {"dt_masked_select_grad", Entry<MaskedSelectGrad>},
    {"dt_multiplex", Entry<Multiplex>},
    {"dt_multiplex_grad", Entry<MultiplexGrad>},
    {"dt_shard_index", Entry<ShardIndex>},
    {"dt_gather_tree", Entry<GatherTree>},
    {"dt_tril_triu", Entry<TrilTriu>},
    {"dt_diag", Entry<Diag>},
    {"dt_diag_embed", Entry<DiagEmbed>},
};

}  // namespace

FunctionTable IndexingFunctions() { return kRows; }

}  // namespace dtranspile::kernels
