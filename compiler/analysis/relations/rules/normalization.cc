// Relation rules: family `normalization`. layer_norm keeps samples apart; batch_norm couples them,
// so it is a site of data parallelism unless it runs on the stored statistics. Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

bool usesStored(RuleContext& context) {
  return (context.op().getBool("is_test") && !context.op().getBool("trainable_statistics")) ||
         context.op().getBool("use_global_stats");
}

void batchNorm(RuleContext& context) {
  usesStored(context) ? batchwise(context) : wholeOnly(context);
}

const RuleRow kRows[] = {
    {"batch_norm", batchNorm,
     "X, Scale:w, Bias:w -> Y, ReserveSpace; X -> SavedMean, SavedVariance; "
     "X, Mean:w, MomentumTensor:w -> MeanOut; X, Variance:w, MomentumTensor:w -> VarianceOut",
     "is_test, momentum, epsilon, data_layout, use_global_stats, trainable_statistics"},
    {"batch_norm_grad", batchNorm,
     "Y@GRAD:l, X, Scale:w, SavedMean:w, SavedVariance:w -> X@GRAD, +Scale@GRAD; Y@GRAD:l -> "
     "+Bias@GRAD",
     "Bias, MeanOut, ReserveSpace, VarianceOut, Mean, Variance, is_test, momentum, epsilon, "
     "data_layout, use_global_stats, trainable_statistics"},
    {"layer_norm", batchwise, "X, Scale:w, Bias:w -> Y; X -> Mean, Variance",
     "epsilon, begin_norm_axis, is_test"},
    {"layer_norm_grad", batchwise,
     "Y@GRAD:l, X, Mean, Variance, Scale:w -> X@GRAD; Y@GRAD:l, X, Mean, Variance -> +Scale@GRAD; "
     "Y@GRAD:l -> +Bias@GRAD",
     "Bias, epsilon, begin_norm_axis, is_test"},
    {"group_norm", batchwise, "X, Scale:w, Bias:w -> Y; X -> Mean, Variance",
     "epsilon, groups, data_layout"},
    {"instance_norm", batchwise, "X, Scale:w, Bias:w -> Y", "epsilon"},
    {"label_smooth", batchwise, "X, PriorDist:w -> Out", "epsilon"},
};

}  // namespace

llvm::ArrayRef<RuleRow> normalizationRules() { return kRows; }

}  // namespace dtranspile::verify
