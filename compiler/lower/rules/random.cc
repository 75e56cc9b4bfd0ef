// Lowering rules: family `random`: the framework's own generators, by program version
// (runtime/kernels/cpu/random).
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

using llvm::LogicalResult;

int64_t release(OpLowering& op) { return op.version() > 0 && op.version() < 2000000 ? 0 : 1; }

LogicalResult lowerUniform(OpLowering& op) {
  auto out = op.out("Out");
  if (!out) return llvm::success();
  const pd::OpView& v = op.op();
  op.call("dt_uniform_random", {}, {*out},
          {.ints = {release(op), v.getInt("seed"), v.getInt("diag_num"), v.getInt("diag_step")},
           .reals = {v.getFloat("min"), v.getFloat("max"), v.getFloat("diag_val")}});
  return llvm::success();
}

LogicalResult lowerGaussian(OpLowering& op) {
  auto out = op.out("Out");
  if (!out) return llvm::success();
  const pd::OpView& v = op.op();
  const bool truncated = v.type() == "truncated_gaussian_random";
  op.call(
      truncated ? "dt_truncated_gaussian_random" : "dt_gaussian_random", {}, {*out},
      {.ints = {release(op), v.getInt("seed")}, .reals = {v.getFloat("mean"), v.getFloat("std")}});
  return llvm::success();
}

// Without a mask (is_test) the gradient is that of what dropout does then.
LogicalResult lowerDropoutGrad(OpLowering& op) {
  const bool up = op.op().getString("dropout_implementation") == "upscale_in_train",
             test = op.op().getBool("is_test");
  const double keep = 1 - static_cast<double>(static_cast<float>(op.op().getFloat("dropout_prob")));
  const double factor = test ? (up ? 1 : keep) : !up ? 1 : keep > 0 ? 1 / keep : 0;
  return op.formula(test ? "X@GRAD = Out@GRAD * factor" : "X@GRAD = Out@GRAD * Mask * factor",
                    {.numbers = {{"factor", factor}}});
}

const LoweringRule kRules[] = {
    lowerRule("uniform_random", lowerUniform, "dt_uniform_random, @version", "dt_uniform_of_shape"),
    lowerRule("gaussian_random", lowerGaussian, "dt_gaussian_random, @version",
              "dt_gaussian_of_shape"),
    functionRule("truncated_gaussian_random", lowerGaussian,
                 "dt_truncated_gaussian_random, @version"),
    lowerRule("uniform_random_batch_size_like", lowerUniform, "dt_uniform_random, @version",
              "dt_uniform_like"),
    lowerRule("gaussian_random_batch_size_like", lowerGaussian, "dt_gaussian_random, @version",
              "dt_gaussian_like"),
    callRule("randint", "dt_randint"),
    callRule("randperm", "dt_randperm"),
    callRule("bernoulli", "dt_bernoulli"),
    callRule("multinomial", "dt_multinomial"),
    callRule("sampling_id", "dt_sampling_id"),
    callRule("random_crop", "dt_random_crop"),
    callRule("seed", "dt_seed"),
    callRule("dropout", "dt_dropout"),
    functionRule("dropout_grad", lowerDropoutGrad, "formula"),
};

}  // namespace

RuleTable randomRules() { return kRules; }

}  // namespace dtranspile::lower
