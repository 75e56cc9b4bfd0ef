// Rows of the op table: family `loss`. Notation: op_table.h; read by op_table.cc.

#include "dialects/pd/ops/constraints.h"
#include "dialects/pd/ops/families.h"
#include "dialects/pd/ops/infer_common.h"
#include "dialects/pd/ops/infer_loss.h"
#include "dialects/pd/ops/infer_sequence.h"

namespace dtranspile::pd {
namespace {

constexpr const char* kSoftmaxWithCrossEntropyAttributes =
    "soft_label:b=false, numeric_stable_mode:b=true, ignore_index:i=-100, axis:i=-1, "
    "use_softmax:b=true@1";

constexpr const char* kTeacherStudentSigmoidLossAttributes =
    "soft_max_up_bound:f=15, soft_max_lower_bound:f=-15";

constexpr const char* kMarginAttributes =
    "return_softmax:b=false, ring_id:i=0, rank:i=0, nranks:i=1, margin1:f=1, margin2:f=0.5, "
    "margin3:f=0, scale:f=64";

const OpRow kRows[] = {
    {"cross_entropy", "X, Label -> Y", "soft_label:b=false, ignore_index:i=-100", kPure,
     inferCrossEntropy, kCrossEntropyConstraints},
    {"cross_entropy_grad", "Label?, X?, Y@GRAD -> X@GRAD?",
     "soft_label:b=false, ignore_index:i=-100", kPure, inferGradients},
    {"cross_entropy2", "X, Label -> Y, XShape, MatchX", "ignore_index:i=-100", kPure,
     inferCrossEntropy, kCrossEntropyConstraints},
    {"cross_entropy_grad2", "Label, MatchX, XShape, Y@GRAD -> X@GRAD?", "ignore_index:i=-100",
     kPure, inferCrossEntropy2Grad},
    {"softmax_with_cross_entropy", "Logits, Label -> Softmax, Loss",
     kSoftmaxWithCrossEntropyAttributes, kPure, inferSoftmaxCrossEntropy,
     kSoftmaxCrossEntropyConstraints},
    {"softmax_with_cross_entropy_grad", "Label, Loss@GRAD, Softmax -> Logits@GRAD?",
     kSoftmaxWithCrossEntropyAttributes, kPure, inferSame<"Softmax", "Logits@GRAD">},
    {"margin_cross_entropy", "Logits, Label -> Softmax, Loss", kMarginAttributes, kPure,
     inferMarginCrossEntropy},
    {"margin_cross_entropy_grad", "Logits, Label, Softmax, Loss@GRAD -> Logits@GRAD?",
     kMarginAttributes, kPure, inferGradients},
    {"sigmoid_cross_entropy_with_logits", "X, Label, pos_weight? -> Out",
     "normalize:b=false, ignore_index:i=-100", kPure, inferSame<"X", "Out">,
     kSameExtents<"X", "Label">},
    {"sigmoid_cross_entropy_with_logits_grad", "Label, Out@GRAD, X, pos_weight? -> X@GRAD?",
     "normalize:b=false, ignore_index:i=-100", kPure, inferGradients},
    {"bce_loss", "X, Label -> Out", "", kPure, inferSame<"X", "Out">},
    {"bce_loss_grad", "Label?, Out@GRAD, X? -> X@GRAD?", "", kPure, inferGradients},
    {"nll_loss", "X, Label, Weight? -> Out, Total_weight", "ignore_index:l=-100, reduction:s=mean",
     kPure, inferNegativeLogLikelihood},
    {"nll_loss_grad", "Label?, Out@GRAD, Total_weight?, Weight?, X? -> X@GRAD?",
     "ignore_index:l=-100, reduction:s=mean", kPure, inferGradients},
    {"kldiv_loss", "X, Target -> Loss", "reduction:s=mean, log_target:b=false@1", kPure,
     inferKlDivergence},
    {"kldiv_loss_grad", "Loss@GRAD, Target, X -> X@GRAD?", "reduction:s=mean, log_target:b=false@1",
     kPure, inferGradients},
    {"identity_loss", "X -> Out", "reduction:i=1", kPure, inferIdentityLoss},
    {"identity_loss_grad", "X, Out@GRAD -> X@GRAD?", "reduction:i=1", kPure, inferGradients},
    {"huber_loss", "X, Y -> Residual, Out", "delta:f", kPure, inferHuber},
    {"huber_loss_grad", "Out@GRAD, Residual -> X@GRAD?, Y@GRAD?", "delta:f", kPure,
     inferAll<"Residual">},
    {"smooth_l1_loss", "X, Y, InsideWeight?, OutsideWeight? -> Diff, Out", "sigma:f=1", kPure,
     inferSmoothL1},
    {"smooth_l1_loss_grad", "Diff?, InsideWeight?, Out@GRAD, OutsideWeight? -> X@GRAD?, Y@GRAD?",
     "sigma:f=1", kPure, inferAll<"Diff">},
    {"log_loss", "Predicted, Labels -> Loss", "epsilon:f", kPure, inferSame<"Predicted", "Loss">},
    {"log_loss_grad", "Labels, Loss@GRAD, Predicted -> Predicted@GRAD?", "epsilon:f", kPure,
     inferGradients},
    {"hinge_loss", "Logits, Labels -> Loss", "", kPure, inferSame<"Logits", "Loss">},
    {"hinge_loss_grad", "Labels?, Logits?, Loss@GRAD -> Logits@GRAD?", "", kPure, inferGradients},
    {"modified_huber_loss_grad", "IntermediateVal, Out@GRAD, Y -> X@GRAD?", "", kPure,
     inferSame<"Out@GRAD", "X@GRAD">},
    {"modified_huber_loss", "X, Y -> IntermediateVal, Out", "", kPure, inferAll<"X">},
    {"rank_loss", "Label, Left, Right -> Out", "", kPure, inferSame<"Left", "Out">},
    {"rank_loss_grad", "Label?, Left?, Out@GRAD, Right? -> Left@GRAD?, Right@GRAD?", "", kPure,
     inferGradients},
    {"margin_rank_loss", "X1, X2, Label -> Activated, Out", "margin:f=0", kPure, inferAll<"X1">},
    {"margin_rank_loss_grad", "Activated?, Label?, Out@GRAD -> X1@GRAD?, X2@GRAD?", "margin:f=0",
     kPure, inferAll<"Out@GRAD">},
    {"bpr_loss", "X, Label -> Y", "", kPure, inferCrossEntropy, kCrossEntropyConstraints},
    {"bpr_loss_grad", "Label?, X?, Y@GRAD -> X@GRAD?", "", kPure, inferGradients},
    {"center_loss", "X, Label, Centers, CenterUpdateRate -> CentersOut, SampleCenterDiff, Loss",
     "cluster_num:i, need_update:b", kPure, inferCenterLoss},
    {"center_loss_grad", "Loss@GRAD, SampleCenterDiff?, X? -> X@GRAD?",
     "cluster_num:i, need_update:b", kPure, inferGradients},
    {"teacher_student_sigmoid_loss", "X, Label -> Y", kTeacherStudentSigmoidLossAttributes, kPure,
     inferSame<"X", "Y">},
    {"teacher_student_sigmoid_loss_grad", "Label?, X?, Y@GRAD -> X@GRAD?",
     kTeacherStudentSigmoidLossAttributes, kPure, inferGradients},
    {"sigmoid_focal_loss", "X, Label, FgNum -> Out", "gamma:f=2, alpha:f=0.25", kPure,
     inferSame<"X", "Out">},
    {"sigmoid_focal_loss_grad", "FgNum?, Label?, Out@GRAD, X? -> X@GRAD?",
     "gamma:f=2, alpha:f=0.25", kPure, inferGradients},
    {"warpctc", "Logits, Label, LogitsLength?, LabelLength? -> WarpCTCGrad, Loss",
     "blank:i=0, norm_by_times:b=false", kPure, inferWarpCtc},
    {"warpctc_grad", "Logits, LogitsLength?, Loss@GRAD, WarpCTCGrad -> Logits@GRAD?",
     "blank:i=0, norm_by_times:b=false", kPure, inferGradients},
    {"linear_chain_crf",
     "Emission, Transition, Label, Length? -> Alpha, EmissionExps, TransitionExps, LogLikelihood",
     "", kPure, inferLinearChainCrf},
    {"linear_chain_crf_grad",
     "Alpha?, Emission?, EmissionExps?, Label?, Length?, LogLikelihood@GRAD, Transition?, "
     "TransitionExps? -> Emission@GRAD?, Transition@GRAD?",
     "", kPure, inferGradients},
    {"viterbi_decode", "Input, Transition, Length -> Scores, Path", "include_bos_eos_tag:b=true",
     kPure, inferViterbi},
    {"crf_decoding", "Emission, Transition, Label?, Length? -> ViterbiPath", "", kPure,
     inferCrfDecoding},
};

}  // namespace

Family lossFamily() { return {"loss", kRows}; }

}  // namespace dtranspile::pd
