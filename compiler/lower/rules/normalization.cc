// Lowering rules: family `normalization`. Rows are channels (batch_norm) or samples (layer_norm); SavedVariance of batch_norm is
// 1/sqrt(variance + epsilon). Gradients: Ioffe, Szegedy 2015 and Ba, Kiros, Hinton 2016.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

const char* const kBatchNorm =
    "fixed = is_test && !trainable_statistics || use_global_stats; k = or(MomentumTensor, momentum);"
    "m = fixed ? Mean[r] : sum(X) / count; v = fixed ? Variance[r] : sum(square(X - m)) / count; i = rsqrt(v + epsilon);"
    "Y = (X - m) * (i * or(Scale[r], 1)) + or(Bias[r], 0); SavedMean[r] = m; SavedVariance[r] = i;"
    "MeanOut[r] = fixed ? Mean[r] : Mean[r] * k + m * (1 - k); VarianceOut[r] = fixed ? Variance[r] : Variance[r] * k + v * (1 - k)";

const char* const kBatchNormGrad =
    "fixed = is_test && !trainable_statistics || use_global_stats;"
    "m = fixed ? or(Mean[r], or(MeanOut[r], 0)) : SavedMean[r]; i = fixed ? rsqrt(or(Variance[r], or(VarianceOut[r], 0)) + epsilon) : SavedVariance[r];"
    "h = (X - m) * i; b = sum(Y@GRAD); s = sum(Y@GRAD * h); Bias@GRAD[r] = b; Scale@GRAD[r] = s; g = i * or(Scale[r], 1);"
    "X@GRAD = fixed ? Y@GRAD * g : g * (Y@GRAD - b / count - h * (s / count))";

const LoweringRule kRules[] = {
    {"batch_norm", Inner::NotChannel, kBatchNorm},
    {"batch_norm_grad", Inner::NotChannel, kBatchNormGrad},
    {"sync_batch_norm", Inner::NotChannel, kBatchNorm},
    {"sync_batch_norm_grad", Inner::NotChannel, kBatchNormGrad},
    {"layer_norm", Inner::FromAxis,
     "m = sum(X) / count; v = sum(square(X - m)) / count; Mean[r] = m; Variance[r] = v;"
     "Y = (X - m) * rsqrt(v + epsilon) * or(Scale[i], 1) + or(Bias[i], 0)"},
    {"layer_norm_grad", Inner::FromAxis,
     "k = rsqrt(Variance[r] + epsilon); h = (X - Mean[r]) * k; g = Y@GRAD * or(Scale[i], 1);"
     "X@GRAD = k * (g - sum(g) / count - h * (sum(g * h) / count)); Scale@GRAD[i] = Y@GRAD * h; Bias@GRAD[i] = Y@GRAD"},
};

}  // namespace

RuleTable normalizationRules() { return kRules; }

}  // namespace dtranspile::lower
