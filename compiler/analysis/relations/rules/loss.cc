// Relation rules: family `loss`. One value per sample; what divides by a count over the batch is a
// site. Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

// With `normalize` the op divides by the number of counted labels of the batch it sees.
void sigmoidCrossEntropy(RuleContext& context) {
  context.op().getBool("normalize") ? wholeOnly(context) : pointwise(context);
}

const RuleRow kRows[] = {
    {"cross_entropy", rowwise, "X, Label -> Y", "soft_label, ignore_index"},
    {"cross_entropy_grad", rowwise, "Y@GRAD:l, X, Label -> X@GRAD", "soft_label, ignore_index"},
    {"cross_entropy2", rowwise, "X, Label -> Y, MatchX; X:s -> XShape", "ignore_index"},
    {"cross_entropy_grad2", batchwise, "Y@GRAD:l, MatchX, Label, XShape:s -> X@GRAD",
     "ignore_index"},
    {"softmax_with_cross_entropy", rowwise, "Logits, Label -> Softmax, Loss",
     "soft_label, numeric_stable_mode, ignore_index, axis, use_softmax"},
    {"softmax_with_cross_entropy_grad", rowwise, "Loss@GRAD:l, Softmax, Label -> Logits@GRAD",
     "soft_label, numeric_stable_mode, ignore_index, axis, use_softmax"},
    {"sigmoid_cross_entropy_with_logits", sigmoidCrossEntropy, "X, Label, pos_weight -> Out",
     "normalize, ignore_index"},
    {"sigmoid_cross_entropy_with_logits_grad", sigmoidCrossEntropy,
     "Out@GRAD:l, X, Label, pos_weight -> X@GRAD", "normalize, ignore_index"},
    {"bce_loss", pointwise, "X, Label -> Out"},
    {"bce_loss_grad", pointwise, "Out@GRAD:l, X, Label -> X@GRAD"},
    {"huber_loss", pointwise, "X, Y -> Residual, Out", "delta"},
    {"huber_loss_grad", pointwise, "Out@GRAD:l, Residual -> X@GRAD, Y@GRAD", "delta"},
    {"smooth_l1_loss", batchwise, "X, Y, InsideWeight, OutsideWeight -> Diff, Out", "sigma"},
    {"smooth_l1_loss_grad", batchwise,
     "Out@GRAD:l, Diff, InsideWeight, OutsideWeight -> X@GRAD, Y@GRAD", "sigma"},
    {"log_loss", pointwise, "Predicted, Labels -> Loss", "epsilon"},
    {"log_loss_grad", pointwise, "Loss@GRAD:l, Predicted, Labels -> Predicted@GRAD", "epsilon"},
    {"hinge_loss", pointwise, "Logits, Labels -> Loss"},
    {"hinge_loss_grad", pointwise, "Loss@GRAD:l, Logits, Labels -> Logits@GRAD"},
};

}  // namespace

llvm::ArrayRef<RuleRow> lossRules() { return kRows; }

}  // namespace dtranspile::verify
