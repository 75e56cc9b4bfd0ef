// Relation rules: family `metric`. Counts add up over the batch; quotients of counts, and pairs of
// samples, are those of a share. Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

// Counts add up over the batch; the accuracy is their quotient by the local number of samples, a
// mean.
void accuracy(RuleContext& context) {
  Form form;
  for (llvm::StringRef slot : {"Indices", "Label"}) {
    mlir::Value value = context.op().input(slot);
    if (!value) return;
    Labels labels = wholeLabels(value);
    if (!labels.empty()) labels[0] = 0;
    form.terms.push_back({value, labels, Use::Value});
  }
  form.fold = Fold::Sum;
  auto give = [&](llvm::StringRef slot) {
    mlir::Value out = context.op().output(slot);
    if (!out) return;
    form.result = wholeLabels(out);
    context.result(slot, form);
  };
  give("Correct");
  give("Total");
  form.averaged = {0};
  give("Accuracy");
}

const RuleRow kRows[] = {
    {"accuracy", accuracy, "", "Out, Indices, Label"},
    {"auc", wholeOnly,
     "Predict, Label, StatPos, StatNeg, InsTagWeight -> AUC, StatPosOut, StatNegOut",
     "curve, num_thresholds, slide_steps"},
    {"chunk_eval", batchThenWhole,
     "Inference, Label, SeqLength -> +NumInferChunks, +NumLabelChunks, +NumCorrectChunks; "
     "Inference, Label, SeqLength -> Precision, Recall, F1-Score",
     "num_chunk_types, chunk_scheme, excluded_chunk_types"},
    {"mean_iou", wholeOnly,
     "Predictions, Labels, InWrongs, InCorrects, InMeanIou -> OutMeanIou, OutWrong, OutCorrect",
     "num_classes"},
    {"positive_negative_pair", wholeOnly,
     "Score, Label, QueryID, AccumulatePositivePair, AccumulateNegativePair, "
     "AccumulateNeutralPair, Weight -> PositivePair, NegativePair, NeutralPair",
     "column"},
    {"precision_recall", wholeOnly,
     "MaxProbs, Indices, Labels, Weights, StatesInfo -> BatchMetrics, AccumMetrics, "
     "AccumStatesInfo",
     "class_number"},
};

}  // namespace

llvm::ArrayRef<RuleRow> metricRules() { return kRows; }

}  // namespace dtranspile::verify
