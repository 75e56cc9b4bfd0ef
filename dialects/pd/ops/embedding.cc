// Rows of the op table: family `embedding`. Notation: op_table.h; read by op_table.cc.

#include "dialects/pd/ops/families.h"
#include "dialects/pd/ops/infer_common.h"
#include "dialects/pd/ops/infer_embedding.h"
#include "dialects/pd/ops/infer_loss.h"
#include "dialects/pd/ops/infer_shape.h"

namespace dtranspile::pd {
namespace {

constexpr const char* kLookupTableAttributes =
    "is_sparse:b=false, is_distributed:b=false, padding_idx:l=-1, grad_inplace:b=false, "
    "remote_prefetch:b=false, trainer_id:i~=0, height_sections:ls~={}, "
    "epmap:ss~={}, table_names:ss~={}, entry_config:s='', is_test:b=false, entry:s=none, "
    "table_class:s=none, slot:i~=0";

constexpr const char* kLookupTableV2Attributes =
    "is_sparse:b=false, is_distributed:b=false, padding_idx:l=-1, remote_prefetch:b=false, "
    "trainer_id:i~=0, height_sections:ls~={}, epmap:ss~={}, "
    "table_names:ss~={}, slot:i~=0";

constexpr const char* kOneHotAttributes = "depth:i=-1, dtype:i=5, allow_out_of_range:b=false";

constexpr const char* kHierarchicalSigmoidAttributes =
    "num_classes:i=2, remote_prefetch:b=false, trainer_id:i~=0, height_sections:ls~={}, "
    "epmap:ss~={}, table_names:ss~={}, is_sparse:b=false";

constexpr const char* kNceAttributes =
    "num_total_classes:i, num_neg_samples:i=10, sampler:i=0, seed:i=0, is_sparse:b=false, "
    "remote_prefetch:b=false, trainer_id:i~=0, "
    "height_sections:ls~={}, epmap:ss~={}, table_names:ss~={}, custom_neg_classes:is={}, "
    "is_test:b=false";

constexpr const char* kSampleLogitsAttributes =
    "use_customized_samples:b=false, uniq:b=true, remove_accidental_hits:b=true, num_samples:i, "
    "seed:i=0";

const OpRow kRows[] = {
    {"lookup_table", "W, Ids -> Out", kLookupTableAttributes, kPure, inferEmbedding,
     kLookupTableConstraints},
    {"lookup_table_grad", "Ids?, Out@GRAD, W? -> W@GRAD?", kLookupTableAttributes, kPure,
     inferEmbeddingGrad},
    {"lookup_table_v2", "W, Ids -> Out", kLookupTableV2Attributes, kPure, inferEmbedding,
     kEmbeddingConstraints},
    {"lookup_table_v2_grad", "Ids, Out@GRAD, W -> W@GRAD?", kLookupTableV2Attributes, kPure,
     inferEmbeddingGrad},
    {"one_hot", "X, depth_tensor? -> Out", kOneHotAttributes, kPure, inferOneHot},
    {"one_hot_v2", "X, depth_tensor? -> Out", kOneHotAttributes, kPure, inferOneHot},
    {"hierarchical_sigmoid", "X, W, Label, PathTable?, PathCode?, Bias? -> Out, PreOut, W_Out",
     kHierarchicalSigmoidAttributes, kPure, inferHierarchicalSigmoid},
    {"hierarchical_sigmoid_grad",
     "Bias?, Label, Out@GRAD, PathCode?, PathTable?, PreOut, W, X -> Bias@GRAD?, W@GRAD?, X@GRAD?",
     kHierarchicalSigmoidAttributes, kPure, inferSparseWeightGrad},
    {"nce",
     "Input, Label, Weight, Bias?, SampleWeight?, CustomDistProbs?, CustomDistAlias?, "
     "CustomDistAliasProbs? -> Cost, SampleLogits, SampleLabels",
     kNceAttributes, kRandom, inferNce},
    {"nce_grad",
     "Bias?, Cost@GRAD, CustomDistAlias?, CustomDistAliasProbs?, CustomDistProbs?, Input, Label, "
     "SampleLabels, SampleLogits, SampleWeight?, "
     "Weight -> Bias@GRAD?, Input@GRAD?, Weight@GRAD?",
     kNceAttributes, kPure, inferSparseWeightGrad},
    {"sample_logits",
     "Logits, Labels, CustomizedSamples?, CustomizedProbabilities? -> Samples, Probabilities, "
     "LogitsDim, LabelsDim, SampledLogits, SampledLabels",
     kSampleLogitsAttributes, kRandom, inferSampleLogits},
    {"sample_logits_grad", "LabelsDim?, LogitsDim?, SampledLogits@GRAD, Samples? -> Logits@GRAD?",
     kSampleLogitsAttributes, kPure, inferSampleLogitsGrad},
    {"hash", "X -> Out", "num_hash:i=1, mod_by:l=100000", kPure, inferHash},
    {"cvm", "X, CVM -> Y", "use_cvm:b=true", kPure, inferCvm},
    {"cvm_grad", "CVM?, X?, Y@GRAD -> X@GRAD?", "use_cvm:b=true", kPure, inferGradients},
    {"filter_by_instag", "Ins, Ins_tag, Filter_tag -> Out, LossWeight, IndexMap",
     "is_lod:b, out_val_if_empty:l=0", kPure, inferFilterByInstag},
    {"similarity_focus", "X -> Out", "axis:i, indexes:is", kPure, inferSame<"X", "Out">},
    {"add_position_encoding", "X -> Out", "alpha:f=1, beta:f=1", kPure, inferSame<"X", "Out">},
    {"add_position_encoding_grad", "Out@GRAD -> X@GRAD?", "alpha:f=1, beta:f=1", kPure,
     inferSame<"Out@GRAD", "X@GRAD">},
    {"get_tensor_from_selected_rows", "X -> Out", "", kPure, inferValuesOfRows},
    {"merge_selected_rows", "X -> Out", "", kPure, inferSame<"X", "Out">},
};

}  // namespace

Family embeddingFamily() { return {"embedding", kRows}; }

}  // namespace dtranspile::pd
