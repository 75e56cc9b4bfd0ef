// Relation rules: family `optimizer`. Element-wise updates keep whatever relation their operands
// share; the others need whole parameters. That gradients arrive reduced once and with scale 1 is
// demanded of every op of the update part (compiler/verify/relations/demands.cc). Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

#define DT_COUNTERS "in_num_accumulates:w, in_old_num_accumulates:w, in_num_updates:w"

const RuleRow kRows[] = {
    {"sgd", pointwise, "Param, Grad, LearningRate:w, MasterParam -> ParamOut, MasterParamOut",
     "multi_precision"},
    {"momentum", pointwise,
     "Param, Grad, Velocity, LearningRate:w, MasterParam -> ParamOut, VelocityOut, MasterParamOut",
     "mu, use_nesterov, regularization_method, regularization_coeff, multi_precision, "
     "rescale_grad"},
    {"adam", pointwise,
     "Param, Grad, Moment1, Moment2, LearningRate:w, Beta1Pow:w, Beta2Pow:w, Beta1Tensor:w, "
     "Beta2Tensor:w, MasterParam, SkipUpdate:w, "
     "EpsilonTensor:w -> ParamOut, Moment1Out, Moment2Out, MasterParamOut; Beta1Pow:w, "
     "Beta1Tensor:w -> Beta1PowOut; Beta2Pow:w, Beta2Tensor:w -> Beta2PowOut",
     "beta1, beta2, epsilon, lazy_mode, multi_precision, use_global_beta_pow"},
    {"adamw", pointwise,
     "Param, Grad, Moment1, Moment2, LearningRate:w, Beta1Pow:w, Beta2Pow:w, Beta1Tensor:w, "
     "Beta2Tensor:w, MasterParam, SkipUpdate:w, "
     "EpsilonTensor:w -> ParamOut, Moment1Out, Moment2Out, MasterParamOut; Beta1Pow:w, "
     "Beta1Tensor:w -> Beta1PowOut; Beta2Pow:w, Beta2Tensor:w -> Beta2PowOut",
     "beta1, beta2, epsilon, lr_ratio, coeff, with_decay, lazy_mode, multi_precision, "
     "use_global_beta_pow"},
    {"adamax", pointwise,
     "Param, Grad, Moment, InfNorm, LearningRate:w, Beta1Pow:w, MasterParam -> ParamOut, "
     "MomentOut, InfNormOut, MasterParamOut",
     "beta1, beta2, epsilon, multi_precision"},
    {"adagrad", pointwise,
     "Param, Grad, Moment, LearningRate:w, MasterParam -> ParamOut, MomentOut, MasterParamOut",
     "epsilon, multi_precision"},
    {"decayed_adagrad", pointwise, "Param, Grad, Moment, LearningRate:w -> ParamOut, MomentOut",
     "decay, epsilon"},
    {"adadelta", pointwise,
     "Param, Grad, AvgSquaredGrad, AvgSquaredUpdate, LearningRate:w, MasterParam -> ParamOut, "
     "AvgSquaredGradOut, AvgSquaredUpdateOut, "
     "MasterParamOut",
     "rho, epsilon, multi_precision"},
    {"rmsprop", pointwise,
     "Param, Grad, MeanSquare, MeanGrad, Moment, LearningRate:w, MasterParam -> ParamOut, "
     "MeanSquareOut, MeanGradOut, MomentOut, "
     "MasterParamOut",
     "epsilon, decay, momentum, centered, multi_precision"},
    {"ftrl", pointwise,
     "Param, Grad, SquaredAccumulator, LinearAccumulator, LearningRate:w -> ParamOut, "
     "SquaredAccumOut, LinearAccumOut",
     "l1, l2, lr_power"},
    {"lars_momentum", wholeOnly,
     "Param, Grad, Velocity, LearningRate, MasterParam -> ParamOut, VelocityOut, MasterParamOut",
     "mu, lars_coeff, lars_weight_decay, epsilon, multi_precision, rescale_grad"},
    {"lamb", wholeOnly,
     "Param, Grad, Moment1, Moment2, LearningRate, Beta1Pow, Beta2Pow, MasterParam, SkipUpdate -> "
     "ParamOut, Moment1Out, Moment2Out, "
     "Beta1PowOut, Beta2PowOut, MasterParamOut",
     "weight_decay, beta1, beta2, epsilon, always_adapt, multi_precision"},
    {"proximal_gd", pointwise, "Param, Grad, LearningRate:w -> ParamOut", "l1, l2"},
    {"proximal_adagrad", pointwise, "Param, Grad, Moment, LearningRate:w -> ParamOut, MomentOut",
     "l1, l2"},
    {"average_accumulates", pointwise,
     "param, in_sum_1, in_sum_2, in_sum_3, " DT_COUNTERS
     " -> out_sum_1, out_sum_2, out_sum_3; " DT_COUNTERS
     " -> out_num_accumulates, out_old_num_accumulates, out_num_updates",
     "average_window, max_average_window, min_average_window"},
    // Several parameters in one op.
    {"merged_momentum", wholeOnly,
     "Param, Grad, Velocity, LearningRate, MasterParam -> ParamOut, VelocityOut, MasterParamOut",
     "mu, use_nesterov, regularization_method, regularization_coeff, multi_precision, "
     "rescale_grad"},
    {"merged_adam", wholeOnly,
     "Param, Grad, LearningRate, Moment1, Moment2, Beta1Pow, Beta2Pow, MasterParam -> ParamOut, "
     "Moment1Out, Moment2Out, Beta1PowOut, Beta2PowOut, MasterParamOut",
     "beta1, beta2, epsilon, multi_precision, use_global_beta_pow"},
};

}  // namespace

llvm::ArrayRef<RuleRow> optimizerRules() { return kRows; }

}  // namespace dtranspile::verify
