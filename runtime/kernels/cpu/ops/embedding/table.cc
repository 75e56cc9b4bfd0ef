// Library calls: family `embedding`.
#include "runtime/kernels/cpu/ops/embedding/calls.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_add_position_encoding", Entry<AddPositionEncoding>},
    {"dt_clip_rows_by_norm", Entry<ClipRowsByNorm>},
    {"dt_cvm", Entry<Cvm>},
    {"dt_cvm_grad", Entry<CvmGrad>},
    {"dt_filter_by_instag", Entry<FilterByInstag>},
    {"dt_hash", Entry<Hash>},
    {"dt_hierarchical_sigmoid", Entry<HierarchicalSigmoid>},
    {"dt_hierarchical_sigmoid_grad", Entry<HierarchicalSigmoidGrad>},
    {"dt_lookup_table", Entry<LookupTable>},
    {"dt_lookup_table_grad", Entry<LookupTableGrad>},
    {"dt_merge_selected_rows", Entry<MergeSelectedRows>},
    {"dt_multiply_rows", Entry<MultiplyRows>},
    {"dt_nce", Entry<Nce>},
    {"dt_nce_grad", Entry<NceGrad>},
    {"dt_one_hot", Entry<OneHot>},
    {"dt_rows_to_dense", Entry<RowsToDense>},
    {"dt_sample_logits", Entry<SampleLogits>},
    {"dt_sample_logits_grad", Entry<SampleLogitsGrad>},
    {"dt_scale_rows", Entry<ScaleRows>},
    {"dt_similarity_focus", Entry<SimilarityFocus>},
    {"dt_sum_rows", Entry<SumRows>},
    {"dt_values_of_rows", Entry<ValuesOfRows>},
};

}  // namespace

FunctionTable EmbeddingFunctions() { return kRows; }

}  // namespace dtranspile::kernels
