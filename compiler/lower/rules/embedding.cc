// Lowering rules: family `embedding`.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

#define DT_TREE "X, W, Label, PathTable, PathCode, Bias"
#define DT_NCE                                                                   \
  "Input, Label, Weight, Bias, SampleWeight, CustomDistProbs, CustomDistAlias, " \
  "CustomDistAliasProbs"
#define DT_NCE_ATTRIBUTES \
  "num_total_classes, num_neg_samples, sampler, seed, custom_neg_classes, @version"

const LoweringRule kRules[] = {
    callRule("lookup_table", "dt_lookup_table(W, Ids; padding_idx, @type) -> Out"),
    callRule("lookup_table_grad", "dt_lookup_table_grad(W, Ids, Out@GRAD; padding_idx) -> W@GRAD"),
    callRule("lookup_table_v2", "dt_lookup_table(W, Ids; padding_idx, @type) -> Out"),
    callRule("lookup_table_v2_grad",
             "dt_lookup_table_grad(W, Ids, Out@GRAD; padding_idx) -> W@GRAD"),
    callRule("one_hot", "dt_one_hot(X, depth_tensor; depth, allow_out_of_range, @type) -> Out"),
    callRule("one_hot_v2", "dt_one_hot(X, depth_tensor; depth, allow_out_of_range, @type) -> Out"),
    callRule("hierarchical_sigmoid",
             "dt_hierarchical_sigmoid(" DT_TREE "; num_classes) -> Out, PreOut, W_Out"),
    callRule("hierarchical_sigmoid_grad",
             "dt_hierarchical_sigmoid_grad(" DT_TREE
             ", PreOut, Out@GRAD; num_classes) -> X@GRAD, W@GRAD, Bias@GRAD"),
    callRule("nce",
             "dt_nce(" DT_NCE "; " DT_NCE_ATTRIBUTES ") -> Cost, SampleLogits, SampleLabels"),
    callRule("nce_grad",
             "dt_nce_grad(" DT_NCE ", SampleLogits, SampleLabels, Cost@GRAD; " DT_NCE_ATTRIBUTES
             ") -> Input@GRAD, Weight@GRAD, Bias@GRAD"),
    callRule("sample_logits",
             "dt_sample_logits(Logits, Labels, CustomizedSamples, CustomizedProbabilities; "
             "use_customized_samples, remove_accidental_hits, num_samples, seed, "
             "@version) -> Samples, Probabilities, LogitsDim, SampledLogits, SampledLabels"),
    callRule("sample_logits_grad",
             "dt_sample_logits_grad(LogitsDim, Samples, SampledLogits@GRAD) -> Logits@GRAD"),
    callRule("merge_selected_rows", "dt_merge_selected_rows(X) -> Out"),
    callRule("get_tensor_from_selected_rows", "dt_values_of_rows(X) -> Out"),
    callRule("hash", "dt_hash(X; num_hash, mod_by) -> Out"),
    callRule("cvm", "dt_cvm(X, CVM; use_cvm) -> Y"),
    callRule("cvm_grad", "dt_cvm_grad(X, CVM, Y@GRAD; use_cvm) -> X@GRAD"),
    callRule("filter_by_instag",
             "dt_filter_by_instag(Ins, Ins_tag, Filter_tag; is_lod, out_val_if_empty) -> Out, "
             "LossWeight, IndexMap"),
    callRule("similarity_focus", "dt_similarity_focus(X; axis, indexes) -> Out"),
    callRule("add_position_encoding", "dt_add_position_encoding(X; alpha, beta) -> Out"),
    {"add_position_encoding_grad", Inner::None, "X@GRAD = alpha * Out@GRAD"},
};

}  // namespace

RuleTable embeddingRules() { return kRules; }

}  // namespace dtranspile::lower
