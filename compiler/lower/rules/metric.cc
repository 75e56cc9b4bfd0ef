// Lowering rules: family `metric`.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

llvm::LogicalResult lowerAccuracy(OpLowering& op) {
  auto values = op.in("Out"), indices = op.in("Indices"), label = op.in("Label");
  if (!values || !indices || !label) return op.unsupported("an absent input");
  TensorRef accuracy = op.outOrTemporary("Accuracy", DType::kFloat32, {1}),
            correct = op.outOrTemporary("Correct", DType::kInt32, {1}),
            total = op.outOrTemporary("Total", DType::kInt32, {1});
  op.call("dt_accuracy", {*values, *indices, *label}, {accuracy, correct, total},
          {.anyExtents = true});
  return llvm::success();
}

const LoweringRule kRules[] = {
    functionRule("accuracy", lowerAccuracy, "dt_accuracy"),
    callRule("auc",
             "dt_auc(Predict, Label, StatPos, StatNeg; curve, num_thresholds, slide_steps) -> AUC, "
             "StatPosOut, StatNegOut"),
    callRule("precision_recall",
             "dt_precision_recall(MaxProbs, Indices, Labels, Weights, StatesInfo; class_number) -> "
             "BatchMetrics, AccumMetrics, AccumStatesInfo"),
    callRule("mean_iou",
             "dt_mean_iou(Predictions, Labels, InWrongs, InCorrects, InMeanIou; num_classes) -> "
             "OutMeanIou, OutWrong, OutCorrect"),
    callRule("chunk_eval",
             "dt_chunk_eval(Inference, Label, SeqLength; num_chunk_types, chunk_scheme, "
             "excluded_chunk_types) -> Precision, Recall, F1-Score,"
             "NumInferChunks, NumLabelChunks, NumCorrectChunks"),
    callRule("positive_negative_pair",
             "dt_positive_negative_pair(Score, Label, QueryID, AccumulatePositivePair, "
             "AccumulateNegativePair, AccumulateNeutralPair, Weight; column)"
             "-> PositivePair, NegativePair, NeutralPair"),
};

}  // namespace

RuleTable metricRules() { return kRules; }

}  // namespace dtranspile::lower
