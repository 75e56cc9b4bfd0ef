// Rows of the op table: family `metric`. Notation: op_table.h; read by op_table.cc.

#include "dialects/pd/ops/families.h"
#include "dialects/pd/ops/infer_loss.h"

namespace dtranspile::pd {
namespace {

const OpRow kRows[] = {
    {"accuracy", "Out, Indices, Label -> Accuracy, Correct, Total", "", kPure, inferAccuracy},
    {"auc", "Predict, Label, StatPos, StatNeg, InsTagWeight? -> AUC, StatPosOut, StatNegOut",
     "curve:s=ROC, num_thresholds:i=8191, slide_steps:i=1", kPure, inferAuc},
    {"precision_recall",
     "MaxProbs, Indices, Labels, Weights?, StatesInfo? -> BatchMetrics, AccumMetrics, "
     "AccumStatesInfo",
     "class_number:i", kPure, inferPrecisionRecall},
    {"mean_iou",
     "Predictions, Labels, InWrongs*, InCorrects*, InMeanIou* -> OutMeanIou, OutWrong, OutCorrect",
     "num_classes:i", kPure, inferMeanIou},
    {"chunk_eval",
     "Inference, Label, SeqLength? -> Precision, Recall, F1-Score, NumInferChunks, NumLabelChunks, "
     "NumCorrectChunks",
     "num_chunk_types:i, chunk_scheme:s=IOB, excluded_chunk_types:is={}", kPure, inferChunkEval},
    {"positive_negative_pair",
     "Score, Label, QueryID, AccumulatePositivePair?, AccumulateNegativePair?, "
     "AccumulateNeutralPair?, Weight? -> PositivePair, NegativePair, NeutralPair?",
     "column:i=0", kPure, inferPairs},
};

}  // namespace

Family metricFamily() { return {"metric", kRows}; }

}  // namespace dtranspile::pd
