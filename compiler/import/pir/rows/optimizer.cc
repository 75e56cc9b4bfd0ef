// Rows of the PIR table: updates of parameters. They write in place, to the persistables that they
// read. Notation: op_mapping.h.
#include "compiler/import/pir/op_mapping.h"

namespace dtranspile::pir {
namespace {

// Newer releases have the largest second moment (amsgrad) as a further operand and result.
constexpr const char* kAdamBefore =
    "Param, Grad, LearningRate, Moment1, Moment2, Beta1Pow, Beta2Pow, MasterParam?, SkipUpdate?, "
    "#beta1|Beta1Tensor, #beta2|Beta2Tensor, "
    "#epsilon|EpsilonTensor -> ParamOut=Param, Moment1Out=Moment1, Moment2Out=Moment2, "
    "Beta1PowOut=Beta1Pow, Beta2PowOut=Beta2Pow, "
    "MasterParamOut=MasterParam";
constexpr const char* kAdam =
    "Param, Grad, LearningRate, Moment1, Moment2, !Moment2Max, Beta1Pow, Beta2Pow, MasterParam?, "
    "SkipUpdate?, #beta1|Beta1Tensor, #beta2|Beta2Tensor, "
    "#epsilon|EpsilonTensor -> ParamOut=Param, Moment1Out=Moment1, Moment2Out=Moment2, "
    "!Moment2MaxOut, Beta1PowOut=Beta1Pow, Beta2PowOut=Beta2Pow, "
    "MasterParamOut=MasterParam";

const PirRow kRows[] = {
    {"sgd_", "sgd",
     "Param, LearningRate, Grad, MasterParam? -> ParamOut=Param, MasterParamOut=MasterParam"},
    {"momentum_", "momentum",
     "Param, Grad, Velocity, LearningRate, MasterParam? -> ParamOut=Param, VelocityOut=Velocity, "
     "MasterParamOut=MasterParam"},
    {"adam_", "adam", kAdam, "amsgrad=false"},
    {"adamw_", "adamw", kAdam, "amsgrad=false"},
    {"adam_", "adam", kAdamBefore},
    {"adamw_", "adamw", kAdamBefore},
    {"adamax_", "adamax",
     "Param, Grad, LearningRate, Moment, InfNorm, Beta1Pow, MasterParam? -> ParamOut=Param, "
     "MomentOut=Moment, InfNormOut=InfNorm, "
     "MasterParamOut=MasterParam"},
    {"adagrad_", "adagrad",
     "Param, Grad, Moment, LearningRate, MasterParam? -> ParamOut=Param, MomentOut=Moment, "
     "MasterParamOut=MasterParam"},
    {"adadelta_", "adadelta",
     "Param, Grad, AvgSquaredGrad, AvgSquaredUpdate, LearningRate, MasterParam? -> ParamOut=Param, "
     "AvgSquaredGradOut=AvgSquaredGrad, "
     "AvgSquaredUpdateOut=AvgSquaredUpdate, MasterParamOut=MasterParam"},
    {"rmsprop_", "rmsprop",
     "Param, MeanSquare, Grad, Moment, LearningRate, MeanGrad?, MasterParam? -> ParamOut=Param, "
     "MomentOut=Moment, MeanSquareOut=MeanSquare, "
     "MeanGradOut=MeanGrad, MasterParamOut=MasterParam"},
    {"lamb_", "lamb",
     "Param, Grad, LearningRate, Moment1, Moment2, Beta1Pow, Beta2Pow, MasterParam?, SkipUpdate? "
     "-> ParamOut=Param, Moment1Out=Moment1, "
     "Moment2Out=Moment2, Beta1PowOut=Beta1Pow, Beta2PowOut=Beta2Pow, MasterParamOut=MasterParam"},
    // Mixed precision.
    {"check_finite_and_unscale_", "check_finite_and_unscale", "X*, Scale -> Out*=X, FoundInfinite"},
    {"update_loss_scaling_", "update_loss_scaling",
     "X*, FoundInfinite, PrevLossScaling, InGoodSteps, InBadSteps, #stop_update|StopUpdate -> "
     "Out*=X, LossScaling=PrevLossScaling, "
     "OutGoodSteps=InGoodSteps, OutBadSteps=InBadSteps"},
};

}  // namespace

llvm::ArrayRef<PirRow> optimizerRows() { return kRows; }

}  // namespace dtranspile::pir
