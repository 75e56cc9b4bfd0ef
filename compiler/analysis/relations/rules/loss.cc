// Relation rules: family `loss`. One value per sample, whatever its weight and whether its label is
// ignored; a loss that the op itself divides by a count of the batch (labels that are not ignored,
// the sum of weights) is a site, since a rank counts in its share. Notation: rule.h.
#include "compiler/analysis/relations/records.h"
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

// With `normalize` the op divides by the number of counted labels of the batch it sees.
void sigmoidCrossEntropy(RuleContext& context) {
  context.op().getBool("normalize") ? wholeOnly(context) : pointwise(context);
}

// Classes along the last dim, or `axis`. Operands and results have the rank of the scores, or the
// classes are last and their dim is missing.
void perClass(RuleContext& context) {
  mlir::Value scores = context.op().input(context.clauses()[0].inputs[1].slot),
              label = context.op().input("Label");
  if (!scores || !label) return;
  const int rank = rankOf(scores);
  const int64_t axis = context.op().hasAttr("axis") ? context.op().getInt("axis") : -1;
  if (rankOf(label) == rank || (normalAxis(axis, rank) == rank - 1 && rankOf(label) == rank - 1))
    rowwise(context);
  else if (normalAxis(axis, rank) != 0) batchwise(context);
}

// What `reduction` does with the values of all elements: it divides by these dims of X.
enum class Divisor { None, All, Batch };
struct Reduction {
  const char* name;
  bool folds;
  Divisor divisor;
};
constexpr Reduction kReductions[] = {{"none", false, Divisor::None},
                                     {"sum", true, Divisor::None},
                                     {"mean", true, Divisor::All},
                                     {"batchmean", true, Divisor::Batch}};

const Reduction* reductionOf(const pd::OpView& op) {
  const std::string name = op.getString("reduction");
  for (const Reduction& one : kReductions)
    if (name == one.name) return &one;
  return nullptr;
}

Labels averagedBy(const Reduction& reduction, mlir::Value x) {
  if (reduction.divisor == Divisor::All) return ownLabels(x);
  return reduction.divisor == Divisor::Batch ? Labels{0} : Labels{};
}

// Element by element, then `reduction`.
void divergence(RuleContext& context) {
  mlir::Value x = context.op().input("X"), target = context.op().input("Target"),
              loss = context.op().output("Loss");
  const Reduction* reduction = reductionOf(context.op());
  if (!x || !target || !loss || !reduction) return;
  Form form;
  form.terms = {{x, ownLabels(x), Use::Value}, {target, ownLabels(target), Use::Value}};
  form.result = reduction->folds ? Labels(rankOf(loss), kBroadcastDim) : ownLabels(loss);
  form.fold = reduction->folds ? Fold::Sum : Fold::None;
  form.averaged = averagedBy(*reduction, x);
  context.result("Loss", form);
}

// The gradient is spread over all elements of X if the loss was folded into one number, and divided
// by what the loss was divided by (`averaged`).
void divergenceGrad(RuleContext& context) {
  mlir::Value x = context.op().input("X"), target = context.op().input("Target"),
              gradient = context.op().input("Loss@GRAD");
  const Reduction* reduction = reductionOf(context.op());
  if (!x || !target || !gradient || !reduction) return;
  Form form;
  form.terms = {
      {gradient, reduction->folds ? Labels(rankOf(gradient), kBroadcastDim) : ownLabels(gradient),
       Use::Linear},
      {target, ownLabels(target), Use::Value},
      {x, ownLabels(x), Use::Shape}};
  form.result = ownLabels(x);
  form.averaged = averagedBy(*reduction, x);
  context.result("X@GRAD", form);
}

// The sum (0) or the mean (1) over all elements, or X itself.
void identityLoss(RuleContext& context) {
  const pd::OpView& op = context.op();
  const bool back = op.type() == "identity_loss_grad", none = op.getInt("reduction") == 2;
  mlir::Value x = op.input("X"), loss = back ? op.input("Out@GRAD") : op.output("Out");
  if (!x || !loss) return;
  const Labels small = none ? ownLabels(loss) : Labels(rankOf(loss), kBroadcastDim);
  Form form;
  if (back) form.terms = {{loss, small, Use::Linear}};
  form.terms.push_back({x, ownLabels(x), back ? Use::Shape : Use::Linear});
  form.result = back ? ownLabels(x) : small;
  form.fold = back || none ? Fold::None : Fold::Sum;
  if (op.getInt("reduction") == 1) form.averaged = ownLabels(x);
  context.result(back ? "X@GRAD" : "Out", form);
}

// Scores of classes along dim 1. The mean divides by the weights of the labels that count: one
// value per share. Clauses: of the mean; of the sum; of single samples, whose total weight is 0.
void likelihood(RuleContext& context) {
  const Reduction* reduction = reductionOf(context.op());
  if (!reduction || reduction->divisor == Divisor::Batch) return;
  llvm::ArrayRef<Clause> clauses = context.clauses();
  if (reduction->divisor == Divisor::All) return giveWhole(context, clauses.take_front(1));
  giveBatchwise(context, reduction->folds ? clauses.slice(1, 1) : clauses.drop_front(2));
}

// With reduction `mean` the loss was divided by the total weight of the labels, which is an operand
// of the gradient and a number of the whole batch.
void likelihoodGrad(RuleContext& context) {
  const Reduction* reduction = reductionOf(context.op());
  mlir::Value gradient = context.op().input("Out@GRAD");
  if (!reduction || !gradient || reduction->divisor == Divisor::Batch) return;
  const Clause& clause = context.clauses()[0];
  auto labels = [&](mlir::Value value) {
    return value == gradient && reduction->folds ? wholeLabels(value) : batchLabels(value);
  };
  Form form = formOf(context, clause, labels);
  if (mlir::Value total = context.op().input("Total_weight");
      total && reduction->divisor == Divisor::All)
    form.terms.push_back({total, wholeLabels(total), Use::Value});
  giveResults(context, clause, std::move(form), labels);
}

// Padded (with lengths): steps along dim 0 of the scores, sequences along dim 1; else rows of
// sequences. The record has as many steps as the longest sequence.
Labels ctcLabels(const pd::OpView& op, llvm::StringRef slot, mlir::Value value) {
  if (!slot.starts_with("Logits") || slot == "LogitsLength" || !op.input("LogitsLength") ||
      rankOf(value) < 2)
    return batchLabels(value);
  Labels labels = wholeLabels(value);
  labels[1] = 0;
  return labels;
}
void ctc(RuleContext& context) { giveRecorded(context, ctcLabels); }
void ctcGrad(RuleContext& context) { giveRecordedGrad(context, ctcLabels); }

constexpr const char* kLabels = "soft_label, ignore_index";
constexpr const char* kSoftmaxLabels =
    "soft_label, numeric_stable_mode, ignore_index, axis, use_softmax";

// Paths are as long as the longest sequence of the whole batch.
void viterbi(RuleContext& context) {
  batchwise(context);
  mlir::Value path = context.op().output("Path");
  if (!path) return;
  Form form = formOf(context, context.clauses()[0], wholeLabels);
  form.shareable = false;
  form.result = wholeLabels(path);
  context.result("Path", form);
}

#define DT_MARGINS "margin1, margin2, margin3, scale, return_softmax, ring_id"

const RuleRow kRows[] = {
    {"cross_entropy", rowwise, "X, Label -> Y", kLabels},
    {"cross_entropy_grad", rowwise, "Y@GRAD:l, X, Label -> X@GRAD", kLabels},
    // XShape: the extents of X before a last 0.
    {"cross_entropy2", batchwise, "X, Label -> Y, MatchX; X:s -> XShape", "ignore_index"},
    {"cross_entropy_grad2", batchwise, "Y@GRAD:l, MatchX, Label, XShape:s -> X@GRAD",
     "ignore_index"},
    {"softmax_with_cross_entropy", perClass, "Label, Logits -> Softmax, Loss", kSoftmaxLabels},
    {"softmax_with_cross_entropy_grad", perClass, "Label, Softmax, Loss@GRAD:l -> Logits@GRAD",
     kSoftmaxLabels},
    {"margin_cross_entropy", batchwise, "Logits, Label -> Softmax, Loss", DT_MARGINS},
    {"margin_cross_entropy_grad", batchwise, "Loss@GRAD:l, Logits, Label, Softmax -> Logits@GRAD",
     DT_MARGINS},
    {"sigmoid_cross_entropy_with_logits", sigmoidCrossEntropy, "X, Label, pos_weight -> Out",
     "normalize, ignore_index"},
    {"sigmoid_cross_entropy_with_logits_grad", sigmoidCrossEntropy,
     "Out@GRAD:l, X, Label, pos_weight -> X@GRAD", "normalize, ignore_index"},
    {"bce_loss", pointwise, "X, Label -> Out"},
    {"bce_loss_grad", pointwise, "Out@GRAD:l, X, Label -> X@GRAD"},
    {"huber_loss", pointwise, "X, Y -> Residual, Out", "delta"},
    {"huber_loss_grad", pointwise, "Out@GRAD:l, Residual -> X@GRAD, Y@GRAD", "delta"},
    {"modified_huber_loss", pointwise, "X, Y -> IntermediateVal, Out"},
    {"modified_huber_loss_grad", pointwise, "Out@GRAD:l, IntermediateVal, Y -> X@GRAD"},
    {"smooth_l1_loss", batchwise, "X, Y, InsideWeight, OutsideWeight -> Diff, Out", "sigma"},
    {"smooth_l1_loss_grad", batchwise,
     "Out@GRAD:l, Diff, InsideWeight, OutsideWeight -> X@GRAD, Y@GRAD", "sigma"},
    {"log_loss", pointwise, "Predicted, Labels -> Loss", "epsilon"},
    {"log_loss_grad", pointwise, "Loss@GRAD:l, Predicted, Labels -> Predicted@GRAD", "epsilon"},
    {"hinge_loss", pointwise, "Logits, Labels -> Loss"},
    {"hinge_loss_grad", pointwise, "Loss@GRAD:l, Logits, Labels -> Logits@GRAD"},
    {"rank_loss", pointwise, "Label, Left, Right -> Out"},
    {"rank_loss_grad", pointwise, "Out@GRAD:l, Label, Left, Right -> Left@GRAD, Right@GRAD"},
    {"margin_rank_loss", pointwise, "X1, X2, Label -> Activated, Out", "margin"},
    {"margin_rank_loss_grad", pointwise, "Out@GRAD:l, Activated, Label -> X1@GRAD, X2@GRAD",
     "margin"},
    {"bpr_loss", batchwise, "X, Label -> Y"},
    {"bpr_loss_grad", batchwise, "Y@GRAD:l, X, Label -> X@GRAD"},
    {"teacher_student_sigmoid_loss", pointwise, "X, Label -> Y",
     "soft_max_up_bound, soft_max_lower_bound"},
    {"teacher_student_sigmoid_loss_grad", pointwise, "Y@GRAD:l, X, Label -> X@GRAD",
     "soft_max_up_bound, soft_max_lower_bound"},
    // Divided by the number of objects in the whole batch, which is given.
    {"sigmoid_focal_loss", batchwise, "X, Label, FgNum:w -> Out", "gamma, alpha"},
    {"sigmoid_focal_loss_grad", batchwise, "Out@GRAD:l, X, Label, FgNum:w -> X@GRAD",
     "gamma, alpha"},
    {"identity_loss", identityLoss, "", "X, reduction"},
    {"identity_loss_grad", identityLoss, "", "X, Out@GRAD, reduction"},
    {"kldiv_loss", divergence, "", "X, Target, reduction, log_target"},
    {"kldiv_loss_grad", divergenceGrad, "Loss@GRAD:l, Target, X:s -> X@GRAD",
     "reduction, log_target"},
    {"nll_loss", likelihood,
     "X, Label, Weight:w -> Out, Total_weight; X, Label, Weight:w -> +Out, +Total_weight; "
     "X, Label, Weight:w -> Out; -> Total_weight",
     "ignore_index, reduction"},
    {"nll_loss_grad", likelihoodGrad, "Out@GRAD:l, X:s, Label, Weight:w -> X@GRAD",
     "ignore_index, reduction, Total_weight"},
    // The centres are moved by all samples of a class together.
    {"center_loss", batchThenWhole,
     "X, Label, Centers:w -> SampleCenterDiff, Loss; X, Label, Centers, CenterUpdateRate -> "
     "CentersOut",
     "cluster_num, need_update"},
    {"center_loss_grad", batchwise, "Loss@GRAD:l, SampleCenterDiff:l, X:s -> X@GRAD",
     "cluster_num, need_update"},
    {"linear_chain_crf", batchwise,
     "Emission, Transition:w, Label, Length -> Alpha, EmissionExps, LogLikelihood:e; Transition:w "
     "-> "
     "TransitionExps"},
    {"linear_chain_crf_grad", batchwise,
     "LogLikelihood@GRAD:l, Emission, Transition:w, Label, Length, Alpha, EmissionExps, "
     "TransitionExps:w -> Emission@GRAD, +Transition@GRAD"},
    {"viterbi_decode", viterbi, "Input, Transition:w, Length -> Scores", "include_bos_eos_tag"},
    {"crf_decoding", batchwise, "Emission, Transition:w, Label, Length -> ViterbiPath"},
    {"warpctc", ctc, "Logits, Label, LogitsLength, LabelLength -> Loss:e; -> WarpCTCGrad",
     "blank, norm_by_times"},
    {"warpctc_grad", ctcGrad, "Loss@GRAD:l, Logits:s, LogitsLength -> Logits@GRAD; WarpCTCGrad ->",
     "blank, norm_by_times"},
};

}  // namespace

llvm::ArrayRef<RuleRow> lossRules() { return kRows; }

}  // namespace dtranspile::verify
