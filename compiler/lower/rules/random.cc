// Lowering rules: family `random`: the framework's own generators, by program version
// (runtime/kernels/cpu/random).
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

using llvm::LogicalResult;

// Without a mask (is_test) the gradient is that of what dropout does then.
LogicalResult lowerDropoutGrad(OpLowering& op) {
  const bool up = op.op().getString("dropout_implementation") == "upscale_in_train",
             test = op.op().getBool("is_test");
  const double keep = 1 - static_cast<double>(static_cast<float>(op.op().getFloat("dropout_prob")));
  const double factor = test ? (up ? 1 : keep) : !up ? 1 : keep > 0 ? 1 / keep : 0;
  return op.formula(test ? "X@GRAD = Out@GRAD * factor" : "X@GRAD = Out@GRAD * Mask * factor",
                    {.numbers = {{"factor", factor}}});
}

// There is no tensor that could say its shape.
LogicalResult lowerTruncatedGaussian(OpLowering& op) {
  return op.hasUnknown() ? op.unsupported("a shape that only the run knows") : op.callRow();
}

// The framework's probabilities are for tests of its own: signs say what was dropped.
LogicalResult lowerAttention(OpLowering& op) {
  if (op.op().getBool("return_softmax")) return op.unsupported("return_softmax");
  return op.callRow();
}

const LoweringRule kRules[] = {
    callRule("uniform_random", "dt_uniform_random(continues=-, begins=-)"),
    callRule("gaussian_random", "dt_gaussian_random(continues=-, begins=-)"),
    choiceRule("truncated_gaussian_random", lowerTruncatedGaussian,
               "dt_truncated_gaussian_random(continues=-, begins=-)"),
    callRule("uniform_random_batch_size_like", "dt_uniform_like"),
    callRule("gaussian_random_batch_size_like", "dt_gaussian_like"),
    callRule("randint", "dt_randint"),
    callRule("randperm", "dt_randperm"),
    callRule("bernoulli", "dt_bernoulli"),
    callRule("multinomial", "dt_multinomial"),
    callRule("sampling_id", "dt_sampling_id"),
    callRule("random_crop", "dt_random_crop"),
    callRule("seed", "dt_seed"),
    choiceRule("flash_attn", lowerAttention, "dt_attention"),
    callRule("flash_attn_grad", "dt_attention_grad"),
    callRule("shuffle_batch", "dt_shuffle_batch"),
    callRule("shuffle_batch_grad", "dt_shuffle_batch_grad"),
    callRule("exponential", "dt_exponential"),
    callRule("poisson", "dt_poisson"),
    {"poisson_grad", Inner::None, "X@GRAD = Out@GRAD == Out@GRAD ? 0 : 0"},
    callRule("dirichlet", "dt_dirichlet(X=Alpha)"),
    callRule("gumbel_softmax", "dt_gumbel_softmax"),
    // Of the temperature the framework's gradient knows nothing (docs/operators/defects.md).
    {"gumbel_softmax_grad", Inner::Axis,
     "X@GRAD = (Out * (Out@GRAD - sum(Out * Out@GRAD))) / (exact ? temperature : 1)"},
    callRule("dropout", "dt_dropout"),
    functionRule("dropout_grad", lowerDropoutGrad),
};

}  // namespace

RuleTable randomRules() { return kRules; }

}  // namespace dtranspile::lower
