// Rows of the op table: family `optimizer`. Notation: op_table.h; read by op_table.cc.

#include "dialects/pd/ops/families.h"
#include "dialects/pd/ops/infer_optimizer.h"

namespace dtranspile::pd {
namespace {

const OpRow kRows[] = {
    {"sgd", "Param, LearningRate, Grad, MasterParam? -> ParamOut, MasterParamOut?",
     "multi_precision:b=false", kPure, inferStateUpdate, kOptimizerConstraints},
    {"momentum",
     "Param, Grad, Velocity, LearningRate, MasterParam? -> ParamOut, VelocityOut, MasterParamOut?",
     "mu:f, use_nesterov:b=false, regularization_method:s=''@1, regularization_coeff:f=0@1, "
     "multi_precision:b=false@1, rescale_grad:f=1@1",
     kPure, inferStateUpdate, kOptimizerConstraints},
    {"lars_momentum",
     "Param+, Grad+, Velocity+, LearningRate+, MasterParam* -> ParamOut*, VelocityOut*, "
     "MasterParamOut*",
     "mu:f, lars_coeff:f=0.001, lars_weight_decay:fs|f={0.0005}, epsilon:f=0, "
     "multi_precision:b=false, rescale_grad:f=1",
     kPure, inferStateUpdate, kOptimizerConstraints},
    {"merged_momentum",
     "Param+, Grad+, Velocity+, LearningRate+, MasterParam* -> ParamOut*, VelocityOut*, "
     "MasterParamOut*",
     "mu:f, use_nesterov:b=false, regularization_method:ss={}, regularization_coeff:fs={}, "
     "multi_precision:b=false, rescale_grad:f=1",
     kPure, inferStateUpdate, kOptimizerConstraints},
    {"adam",
     "Param, Grad, LearningRate, Moment1, Moment2, Beta1Pow, Beta2Pow, Beta1Tensor?, Beta2Tensor?, "
     "MasterParam?, SkipUpdate?, EpsilonTensor? -> ParamOut, "
     "Moment1Out, Moment2Out, Beta1PowOut?, Beta2PowOut?, MasterParamOut?",
     "beta1:f=0.9, beta2:f=0.999, epsilon:f=1e-8, lazy_mode:b=false, "
     "min_row_size_to_use_multithread:l~=1000, multi_precision:b=false@1, "
     "use_global_beta_pow:b=false@3",
     kPure, inferStateUpdate, kOptimizerConstraints},
    {"adamw",
     "Param, Grad, LearningRate, Moment1, Moment2, Beta1Pow, Beta2Pow, MasterParam?, SkipUpdate?, "
     "Beta1Tensor?, Beta2Tensor?, EpsilonTensor? -> ParamOut, "
     "Moment1Out, Moment2Out, Beta1PowOut, Beta2PowOut, MasterParamOut?",
     "beta1:f=0.9, beta2:f=0.999, epsilon:f=1e-8, lr_ratio:f=1, coeff:f=0.01, with_decay:b=false, "
     "lazy_mode:b=false, "
     "min_row_size_to_use_multithread:l~=1000, multi_precision:b=false, "
     "use_global_beta_pow:b=false",
     kPure, inferStateUpdate, kOptimizerConstraints},
    {"merged_adam",
     "Param+, Grad+, LearningRate+, Moment1+, Moment2+, Beta1Pow+, Beta2Pow+, MasterParam* -> "
     "ParamOut*, Moment1Out*, Moment2Out*, Beta1PowOut*, "
     "Beta2PowOut*, MasterParamOut*",
     "beta1:f=0.9, beta2:f=0.999, epsilon:f=1e-8, multi_precision:b=false, "
     "use_global_beta_pow:b=false",
     kPure, inferStateUpdate, kOptimizerConstraints},
    {"adamax",
     "Param, Grad, LearningRate, Moment, InfNorm, Beta1Pow, MasterParam? -> ParamOut, MomentOut, "
     "InfNormOut, MasterParamOut?",
     "beta1:f=0.9, beta2:f=0.999, epsilon:f=1e-8, multi_precision:b=false", kPure, inferStateUpdate,
     kOptimizerConstraints},
    {"adagrad",
     "Param, Grad, Moment, LearningRate, MasterParam? -> ParamOut, MomentOut, MasterParamOut?",
     "epsilon:f=1e-6, multi_precision:b=false", kPure, inferStateUpdate, kOptimizerConstraints},
    {"decayed_adagrad", "Param, Grad, Moment, LearningRate -> ParamOut, MomentOut",
     "decay:f=0.95, epsilon:f=1e-6", kPure, inferStateUpdate, kOptimizerConstraints},
    {"adadelta",
     "Param, Grad, AvgSquaredGrad, AvgSquaredUpdate, LearningRate?, MasterParam? -> ParamOut, "
     "AvgSquaredGradOut, AvgSquaredUpdateOut, MasterParamOut?",
     "rho:f=0.95, epsilon:f=1e-6, multi_precision:b=false", kPure, inferStateUpdate,
     kOptimizerConstraints},
    {"rmsprop",
     "Param, MeanSquare, MeanGrad?, LearningRate, Grad, Moment, MasterParam? -> ParamOut, "
     "MomentOut, MeanSquareOut, MeanGradOut, MasterParamOut?",
     "epsilon:f=1e-10, decay:f=0.9, momentum:f=0, centered:b=false, multi_precision:b=false", kPure,
     inferStateUpdate, kOptimizerConstraints},
    {"ftrl",
     "Param, SquaredAccumulator, LinearAccumulator, Grad, LearningRate -> ParamOut, "
     "SquaredAccumOut, LinearAccumOut",
     "l1:f=0, l2:f=0, lr_power:f=-0.5", kPure, inferStateUpdate, kOptimizerConstraints},
    {"lamb",
     "Param, Grad, LearningRate, Moment1, Moment2, Beta1Pow, Beta2Pow, MasterParam?, SkipUpdate? "
     "-> ParamOut, Moment1Out, Moment2Out, Beta1PowOut?, "
     "Beta2PowOut?, MasterParamOut?",
     "weight_decay:f, beta1:f=0.9, beta2:f=0.999, epsilon:f=1e-6, always_adapt:b=false, "
     "multi_precision:b=false",
     kPure, inferStateUpdate, kOptimizerConstraints},
    {"proximal_gd", "Param, Grad, LearningRate -> ParamOut", "l1:f=0, l2:f=0", kPure,
     inferStateUpdate, kOptimizerConstraints},
    {"proximal_adagrad", "Param, Moment, Grad, LearningRate -> ParamOut, MomentOut",
     "l1:f=0, l2:f=0", kPure, inferStateUpdate, kOptimizerConstraints},
    {"average_accumulates",
     "param, in_sum_1, in_sum_2, in_sum_3, in_num_accumulates, in_old_num_accumulates, "
     "in_num_updates -> out_sum_1, out_sum_2, out_sum_3, "
     "out_num_accumulates, out_old_num_accumulates, out_num_updates",
     "average_window:f=0, max_average_window:l=9223372036854775807, min_average_window:l=10000",
     kPure, inferStateUpdate},
    {"sparse_momentum",
     "Param, Grad, Velocity, Index, Axis?, LearningRate, MasterParam? -> ParamOut, VelocityOut, "
     "MasterParamOut?",
     "mu:f, use_nesterov:b=false, regularization_method:s='', regularization_coeff:f=0, "
     "multi_precision:b=false, rescale_grad:f=1, axis:i=0",
     kPure, inferStateUpdate},
};

}  // namespace

Family optimizerFamily() { return {"optimizer", kRows}; }

}  // namespace dtranspile::pd
