// Rows of the op table: family `normalization`. Notation: op_table.h; read by op_table.cc.

#include "dialects/pd/ops/families.h"
#include "dialects/pd/ops/infer_common.h"
#include "dialects/pd/ops/infer_normalization.h"

namespace dtranspile::pd {
namespace {

constexpr const char* kBatchNormAttributes =
    "is_test:b=false, momentum:f=0.9, epsilon:f=1e-5, data_layout:s=NCHW, fuse_with_relu:b=false, "
    "use_global_stats:b=false, trainable_statistics:b=false";

constexpr const char* kLayerNormAttributes = "epsilon:f=1e-5, begin_norm_axis:i=1, is_test:b=false";

constexpr const char* kGroupNormAttributes = "epsilon:f=1e-5, groups:i=-1, data_layout:s=NCHW";

constexpr const char* kDataNormAttributes =
    "epsilon:f=0.0001, slot_dim:i=-1, summary_decay_rate:f=0.9999999, "
    "enable_scale_and_shift:b=false, data_layout:s=NCHW, sync_stats:b=false";

constexpr const char* kLrnAttributes =
    "n:i=5, k:f=2, alpha:f=0.0001, beta:f=0.75, data_format:s=AnyLayout, is_test:b=false";

const OpRow kRows[] = {
    {"batch_norm",
     "X, Scale?, Bias?, Mean, Variance, MomentumTensor? -> Y, MeanOut, VarianceOut, SavedMean, "
     "SavedVariance, ReserveSpace?",
     kBatchNormAttributes, kPure, inferBatchNorm, kBatchNormConstraints},
    {"batch_norm_grad",
     "Bias, SavedMean, SavedVariance, Scale, X, Y@GRAD, MeanOut?, ReserveSpace?, VarianceOut?, "
     "Mean?, Variance? -> Bias@GRAD?, Scale@GRAD?, X@GRAD?",
     kBatchNormAttributes, kPure, inferNormGrad},
    {"batch_norm_grad_grad",
     "X, Scale?, SavedMean?, SavedVariance?, Mean?, Variance?, DDX?, DDScale?, DDBias?, DY -> DX?, "
     "DScale?, DDY?",
     kBatchNormAttributes, kGradient, inferBatchNormSecondGrad},
    {"sync_batch_norm",
     "X, Scale, Bias, Mean, Variance, MomentumTensor? -> Y, MeanOut, VarianceOut, SavedMean, "
     "SavedVariance, ReserveSpace?",
     kBatchNormAttributes, kPure, inferBatchNorm, kBatchNormConstraints},
    {"sync_batch_norm_grad",
     "Bias, SavedMean, SavedVariance, Scale, X, Y@GRAD, ReserveSpace?, Mean?, Variance?, MeanOut?, "
     "VarianceOut? -> Bias@GRAD?, Scale@GRAD?, X@GRAD?",
     kBatchNormAttributes, kPure, inferNormGrad},
    {"inplace_abn",
     "X, Scale, Bias, Mean, Variance, MomentumTensor? -> Y, MeanOut, VarianceOut, SavedMean, "
     "SavedVariance, ReserveSpace?",
     "is_test:b=false, momentum:f=0.9, epsilon:f=1e-5, data_layout:s=NCHW, fuse_with_relu:b=false, "
     "use_global_stats:b=false, trainable_statistics:b=false, "
     "activation:s='', alpha:f=0.1, use_sync_bn:b=false",
     kPure, inferBatchNorm},
    {"layer_norm", "X, Scale?, Bias? -> Y, Mean, Variance", kLayerNormAttributes, kPure,
     inferLayerNorm, kLayerNormConstraints},
    {"layer_norm_grad",
     "Bias?, Mean, Scale?, Variance, X, Y@GRAD -> Bias@GRAD?, Scale@GRAD?, X@GRAD?",
     kLayerNormAttributes, kPure, inferNormGrad},
    {"group_norm", "X, Scale?, Bias? -> Y, Mean, Variance", kGroupNormAttributes, kPure,
     inferGroupNorm},
    {"group_norm_grad",
     "Bias?, Scale?, Variance, Y, Y@GRAD, Mean?, X? -> Bias@GRAD?, Scale@GRAD?, X@GRAD?",
     kGroupNormAttributes, kPure, inferNormGrad},
    {"instance_norm", "X, Scale?, Bias? -> Y, SavedMean, SavedVariance", "epsilon:f=1e-5", kPure,
     inferInstanceNorm},
    {"instance_norm_grad",
     "SavedMean, SavedVariance, Scale?, X, Y@GRAD -> Bias@GRAD?, Scale@GRAD?, X@GRAD?",
     "epsilon:f=1e-5", kPure, inferNormGrad},
    {"instance_norm_double_grad",
     "x, fwd_scale?, saved_mean, saved_variance, grad_y, grad_x@GRAD?, grad_scale@GRAD?, "
     "grad_bias@GRAD? -> x@GRAD?, fwd_scale@GRAD?, grad_y@GRAD?",
     "epsilon:f=1e-5", kPure, inferGradients},
    {"data_norm", "scale_w?, bias?, X, BatchSize, BatchSum, BatchSquareSum -> Y, Means, Scales",
     kDataNormAttributes, kPure, inferDataNorm},
    {"data_norm_grad",
     "Means, Scales, X, Y@GRAD, bias?, scale_w? -> BatchSize?!, BatchSize@GRAD?, BatchSquareSum?!, "
     "BatchSquareSum@GRAD?, BatchSum?!, BatchSum@GRAD?, X@GRAD?, "
     "bias@GRAD?, scale_w@GRAD?",
     kDataNormAttributes, kPure, inferDataNormGrad},
    {"spectral_norm", "Weight, U, V -> Out", "dim:i=0, power_iters:i=1, eps:f=1e-12", kPure,
     inferSame<"Weight", "Out">},
    {"spectral_norm_grad", "Out@GRAD, U, V, Weight -> Weight@GRAD?",
     "dim:i=0, power_iters:i=1, eps:f=1e-12", kPure, inferGradients},
    {"lrn", "X -> Out, MidOut", kLrnAttributes, kPure, inferAll<"X">},
    {"lrn_grad", "MidOut?, Out?, Out@GRAD, X? -> X@GRAD?", kLrnAttributes, kPure, inferGradients},
    {"affine_channel", "X, Scale, Bias -> Out", "data_layout:s=AnyLayout", kPure,
     inferSame<"X", "Out">},
    {"affine_channel_grad", "Out@GRAD, Scale?, X? -> Bias@GRAD?, Scale@GRAD?, X@GRAD?",
     "data_layout:s=AnyLayout", kPure, inferAffineChannelGrad},
    {"label_smooth_grad", "Out@GRAD, PriorDist? -> X@GRAD?", "epsilon:f=0", kPure,
     inferSame<"Out@GRAD", "X@GRAD">},
    {"label_smooth", "X, PriorDist? -> Out", "epsilon:f=0", kPure, inferSame<"X", "Out">},
};

}  // namespace

Family normalizationFamily() { return {"normalization", kRows}; }

}  // namespace dtranspile::pd
