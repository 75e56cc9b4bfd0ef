// Relation rules: family `embedding`. Whole tables only; a split table belongs to a composite.
// Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

// Draws the other classes that a sample is compared with.
void nce(RuleContext& context) {
  if (mlir::Value input = context.op().input("Input")) demandStreams(context, input);
  batchwise(context);
}

#define DT_NCE_SAMPLES                                                                      \
  "Label, SampleLabels, SampleLogits, SampleWeight, CustomDistProbs:w, CustomDistAlias:w, " \
  "CustomDistAliasProbs:w"

const RuleRow kRows[] = {
    {"lookup_table", batchwise, "W:wl, Ids -> Out",
     "is_sparse, is_distributed, padding_idx, grad_inplace, remote_prefetch, entry_config, "
     "is_test, entry, table_class"},
    {"lookup_table_grad", batchwise, "Out@GRAD:l, Ids, W:ws -> +W@GRAD",
     "is_sparse, is_distributed, padding_idx, grad_inplace, remote_prefetch, entry_config, "
     "is_test, entry, table_class"},
    {"lookup_table_v2", batchwise, "W:wl, Ids -> Out",
     "is_sparse, is_distributed, padding_idx, remote_prefetch"},
    {"lookup_table_v2_grad", batchwise, "Out@GRAD:l, Ids, W:ws -> +W@GRAD",
     "is_sparse, is_distributed, padding_idx, remote_prefetch"},
    {"nce", nce,
     "Input, Label, Weight:w, Bias:w, SampleWeight, CustomDistProbs:w, CustomDistAlias:w, "
     "CustomDistAliasProbs:w -> Cost, SampleLogits, SampleLabels",
     "num_total_classes, num_neg_samples, sampler, seed, is_sparse, remote_prefetch, "
     "custom_neg_classes, is_test"},
    {"nce_grad", batchwise,
     "Cost@GRAD:l, Input:s, Weight:wl, Bias:w, " DT_NCE_SAMPLES " -> Input@GRAD; "
     "Cost@GRAD:l, Input:l, Weight:ws, Bias:w, " DT_NCE_SAMPLES " -> +Weight@GRAD; "
     "Cost@GRAD:l, Input:s, Weight:ws, Bias:ws, " DT_NCE_SAMPLES " -> +Bias@GRAD",
     "Label, num_total_classes, num_neg_samples, sampler, seed, is_sparse, remote_prefetch, "
     "custom_neg_classes, is_test"},
    {"one_hot", batchwise, "X, depth_tensor:w -> Out", "depth, dtype, allow_out_of_range"},
    {"one_hot_v2", batchwise, "X, depth_tensor:w -> Out", "depth, dtype, allow_out_of_range"},
    {"hierarchical_sigmoid", batchwise,
     "X, W:w, Label, PathTable, PathCode, Bias:w -> Out, PreOut; W:wl -> +W_Out",
     "num_classes, remote_prefetch, is_sparse"},
    {"hierarchical_sigmoid_grad", batchwise,
     "Out@GRAD:l, X:s, W:w, Label, PathTable, PathCode, Bias:w, PreOut -> X@GRAD; "
     "Out@GRAD:l, X:l, W:ws, Label, PathTable, PathCode, Bias:w, PreOut -> +W@GRAD; "
     "Out@GRAD:l, X, W:ws, Label, PathTable, PathCode, Bias:w, PreOut -> +Bias@GRAD",
     "num_classes, remote_prefetch, is_sparse"},
    // One draw for all rows of the batch: only samples that are given belong to rows.
    {"sample_logits", batchwise,
     "Logits, Labels, CustomizedSamples, CustomizedProbabilities -> Samples, Probabilities, "
     "SampledLogits, SampledLabels; Logits:s -> LogitsDim; Labels:s -> LabelsDim",
     "use_customized_samples=true, uniq, remove_accidental_hits, num_samples, seed"},
    {"sample_logits_grad", batchwise,
     "SampledLogits@GRAD:l, Samples, LogitsDim:s, LabelsDim:s -> Logits@GRAD",
     "use_customized_samples, uniq, remove_accidental_hits, num_samples, seed"},
    {"add_position_encoding", batchwise, "X -> Out", "alpha, beta"},
    {"add_position_encoding_grad", batchwise, "Out@GRAD:l -> X@GRAD", "alpha, beta"},
    {"hash", batchwise, "X -> Out", "num_hash, mod_by"},
    {"similarity_focus", batchwise, "X -> Out", "axis, indexes"},
    {"cvm", batchwise, "X, CVM -> Y", "use_cvm"},
    // The first columns are CVM itself, whatever the factor of the gradient.
    {"cvm_grad", batchwise, "Y@GRAD, CVM, X:s -> X@GRAD", "use_cvm"},
    // What is left depends on all rows: where nothing is, one row of zeros stays.
    {"filter_by_instag", wholeOnly, "Ins, Ins_tag, Filter_tag -> Out, LossWeight, IndexMap",
     "is_lod, out_val_if_empty"},
    {"merge_selected_rows", pointwise, "X:l -> Out"},
    {"get_tensor_from_selected_rows", wholeOnly, "X -> Out"},
};

}  // namespace

llvm::ArrayRef<RuleRow> embeddingRules() { return kRows; }

}  // namespace dtranspile::verify
