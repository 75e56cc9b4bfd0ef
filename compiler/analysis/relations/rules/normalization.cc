// Relation rules: family `normalization`. layer_norm keeps rows apart, group_norm and instance_norm
// samples; batch_norm couples them, so it is a site of data parallelism unless it runs on the
// stored statistics. Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

bool usesStored(RuleContext& context) {
  return (context.op().getBool("is_test") && !context.op().getBool("trainable_statistics")) ||
         context.op().getBool("use_global_stats");
}

// Clauses: of the batch's own statistics; of stored ones, where nobody looks at ReserveSpace.
void normWith(RuleContext& context, size_t own) {
  llvm::ArrayRef<Clause> clauses = context.clauses();
  if (usesStored(context)) giveBatchwise(context, clauses.drop_front(own));
  else giveWhole(context, clauses.take_front(own));
}
void batchNorm(RuleContext& context) { normWith(context, 3); }
void batchNormGrad(RuleContext& context) { normWith(context, 2); }

// Gradients of the statistics (the last clause) are sums over the rows of the batch; where slots
// are told apart, means over the rows that a slot counts in.
void dataNormGrad(RuleContext& context) {
  llvm::ArrayRef<Clause> clauses = context.clauses();
  if (context.op().getInt("slot_dim") <= 0) return batchwise(context);
  giveBatchwise(context, clauses.drop_back());
  giveWhole(context, clauses.take_back());
}

// The dims before begin_norm_axis are rows, each by itself: X may be cut along any of them. So may
// statistics that are declared with these dims; those that are declared as one dim of all rows
// along the first only.
void layerNorm(RuleContext& context) {
  const mlir::Value x = context.op().input("X");
  const int rows = static_cast<int>(context.op().getInt("begin_norm_axis"));
  if (!x || rows < 1) return wholeOnly(context);
  const auto labels = [&](mlir::Value value) {
    const int rank = rankOf(value);
    if (rank != rankOf(x) && rank != rows) return batchLabels(value);
    Labels own(rank, kWholeDim);
    for (int i = 0; i < std::min(rows, rank); ++i) own[i] = i;
    return own;
  };
  for (const Clause& clause : context.clauses())
    giveResults(context, clause, formOf(context, clause, labels), labels);
}

#define DT_BATCH_NORM \
  "is_test, momentum, epsilon, data_layout, use_global_stats, trainable_statistics"
#define DT_DATA_NORM "epsilon, slot_dim, summary_decay_rate, enable_scale_and_shift, data_layout"

constexpr const char* kBatchNorm =
    "X, Scale:w, Bias:w -> Y, ReserveSpace; X -> SavedMean, SavedVariance; "
    "X, Mean:w, Variance:w, MomentumTensor:w -> MeanOut, VarianceOut; "
    "X, Scale:w, Bias:w, Mean:w, Variance:w -> Y, ReserveSpace; Mean:wl -> MeanOut, SavedMean; "
    "Variance:w -> VarianceOut, SavedVariance";
constexpr const char* kBatchNormGrad =
    "Y@GRAD:l, X, Scale:w, SavedMean:w, SavedVariance:w, MeanOut:ws, VarianceOut:ws, "
    "ReserveSpace:ws -> X@GRAD, +Scale@GRAD; Y@GRAD:l, X:s, Scale:ws, Bias:ws -> +Bias@GRAD; "
    "Y@GRAD:l, X, Scale:w, Mean:w, MeanOut:w, Variance:w, VarianceOut:w, SavedMean:ws, "
    "SavedVariance:ws -> X@GRAD, +Scale@GRAD; Y@GRAD:l, X:s, Scale:ws, Bias:ws -> "
    "+Bias@GRAD";

const RuleRow kRows[] = {
    {"batch_norm", batchNorm, kBatchNorm, DT_BATCH_NORM},
    {"batch_norm_grad", batchNormGrad, kBatchNormGrad, DT_BATCH_NORM ", ReserveSpace"},
    // On one device, as the reference runs it, the same; over several it is the composite.
    {"batch_norm_grad_grad", wholeOnly,
     "X, Scale, SavedMean, SavedVariance, Mean, Variance, DDX, DDScale, DDBias, DY -> DX, DScale, "
     "DDY",
     DT_BATCH_NORM},
    {"instance_norm_double_grad", batchwise,
     "x, fwd_scale:w, saved_mean, saved_variance, grad_y, grad_x@GRAD, grad_scale@GRAD:w, "
     "grad_bias@GRAD:w -> x@GRAD, grad_y@GRAD; x, saved_mean, saved_variance, grad_y:l, "
     "grad_x@GRAD:l, fwd_scale:ws -> +fwd_scale@GRAD",
     "epsilon"},
    {"sync_batch_norm", batchNorm, kBatchNorm, DT_BATCH_NORM},
    {"sync_batch_norm_grad", batchNormGrad, kBatchNormGrad, DT_BATCH_NORM ", ReserveSpace"},
    {"inplace_abn", batchNorm, kBatchNorm, DT_BATCH_NORM ", activation, alpha"},
    {"layer_norm", layerNorm, "X, Scale:w, Bias:w -> Y; X -> Mean, Variance",
     "epsilon, begin_norm_axis, is_test"},
    {"layer_norm_grad", layerNorm,
     "Y@GRAD:l, X, Mean, Variance, Scale:w -> X@GRAD; Y@GRAD:l, X, Mean, Variance, Scale:ws -> "
     "+Scale@GRAD; Y@GRAD:l, X:s, Scale:ws, Bias:ws -> +Bias@GRAD",
     "epsilon, begin_norm_axis, is_test"},
    {"group_norm", batchwise, "X, Scale:w, Bias:w -> Y; X -> Mean, Variance",
     "epsilon, groups, data_layout"},
    {"group_norm_grad", batchwise,
     "Y@GRAD:l, X, Y, Mean, Variance, Scale:w, Bias:w -> X@GRAD, +Scale@GRAD; "
     "Y@GRAD:l, X:s, Y:s, Bias:ws -> +Bias@GRAD",
     "epsilon, groups, data_layout"},
    {"instance_norm", batchwise, "X, Scale:w, Bias:w -> Y; X -> SavedMean, SavedVariance",
     "epsilon"},
    {"instance_norm_grad", batchwise,
     "Y@GRAD:l, X, SavedMean, SavedVariance, Scale:w -> X@GRAD, +Scale@GRAD; "
     "Y@GRAD:l, X:s, Scale:ws -> +Bias@GRAD",
     "epsilon"},
    {"label_smooth", batchwise, "X, PriorDist:w -> Out", "epsilon"},
    {"label_smooth_grad", pointwise, "Out@GRAD:l, PriorDist:ws -> X@GRAD", "epsilon"},
    {"affine_channel", batchwise, "X, Scale:w, Bias:w -> Out", "data_layout"},
    {"affine_channel_grad", batchwise,
     "Out@GRAD:l, X:s, Scale:w -> X@GRAD; Out@GRAD:l, X, Scale:ws -> +Scale@GRAD; "
     "Out@GRAD:l, X:s, Scale:ws -> +Bias@GRAD",
     "data_layout"},
    {"lrn", batchwise, "X -> Out, MidOut", "n, k, alpha, beta, data_format, is_test"},
    {"lrn_grad", batchwise, "Out@GRAD:l, X, Out, MidOut -> X@GRAD",
     "n, k, alpha, beta, data_format, is_test"},
    {"spectral_norm", wholeOnly, "Weight, U, V -> Out", "dim, power_iters, eps"},
    {"spectral_norm_grad", wholeOnly, "Out@GRAD:l, Weight, U, V -> Weight@GRAD",
     "dim, power_iters, eps"},
    {"data_norm", batchwise,
     "X, BatchSize:w, BatchSum:w, BatchSquareSum:w, scale_w:w, bias:w -> Y; "
     "BatchSize:w, BatchSum:w -> Means; BatchSize:w, BatchSquareSum:w -> Scales",
     DT_DATA_NORM},
    {"data_norm_grad", dataNormGrad,
     "Y@GRAD:l, X, Means:ws, Scales:w, scale_w:w -> X@GRAD; Y@GRAD:l, X, Means:w, Scales:w, "
     "scale_w:ws, bias:ws -> +scale_w@GRAD, +bias@GRAD; $BatchSize:wl, Means:ws -> BatchSize; "
     "$BatchSum:wl, Means:ws -> BatchSum; $BatchSquareSum:wl, Means:ws -> BatchSquareSum; "
     "X, Means:w -> +BatchSize@GRAD, +BatchSum@GRAD, +BatchSquareSum@GRAD",
     DT_DATA_NORM},
};

}  // namespace

llvm::ArrayRef<RuleRow> normalizationRules() { return kRows; }

}  // namespace dtranspile::verify
