// Library calls: family `embedding`.
#include "runtime/kernels/cpu/ops/embedding/calls.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_add_position_encoding", Entry<AddPositionEncoding>, kFloats},
    {"dt_clip_rows", Entry<ClipRows>, kFloats},
    {"dt_clip_rows_by_norm", Entry<ClipRowsByNorm>, kFloats},
    {"dt_cvm", Entry<Cvm>, kFloats},
    {"dt_cvm_grad", Entry<CvmGrad>, kFloats},
    {"dt_filter_by_instag", Entry<FilterByInstag>, kNumbers},
    {"dt_hash", Entry<Hash>, kIndices},
    {"dt_hierarchical_sigmoid", Entry<HierarchicalSigmoid>, kFloats},
    {"dt_hierarchical_sigmoid_grad", Entry<HierarchicalSigmoidGrad>, kFloats},
    {"dt_lookup_table", Entry<LookupTable>, kAnyType},
    {"dt_lookup_table_grad", Entry<LookupTableGrad>, kFloats},
    {"dt_merge_selected_rows", Entry<MergeSelectedRows>, kNumbers},
    {"dt_multiply_rows", Entry<MultiplyRows>, kNumbers},
    {"dt_nce", Entry<Nce>, kFloats},
    {"dt_nce_grad", Entry<NceGrad>, kFloats},
    {"dt_one_hot", Entry<OneHot>, kNumbers},
    {"dt_rows_to_dense", Entry<RowsToDense>, kNumbers},
    {"dt_sample_logits", Entry<SampleLogits>, kFloats},
    {"dt_sample_logits_grad", Entry<SampleLogitsGrad>, kFloats},
    {"dt_scale_rows", Entry<ScaleRows>, kNumbers},
    {"dt_similarity_focus", Entry<SimilarityFocus>, kFloats},
    {"dt_sum_rows", Entry<SumRows>, kNumbers},
    {"dt_values_of_rows", Entry<ValuesOfRows>, kAnyType},
};

}  // namespace

FunctionTable EmbeddingFunctions() { return kRows; }

}  // namespace dtranspile::kernels
