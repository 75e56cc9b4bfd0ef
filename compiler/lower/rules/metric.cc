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
    callRule("auc", "dt_auc"),
    callRule("precision_recall", "dt_precision_recall"),
    callRule("mean_iou", "dt_mean_iou"),
    callRule("chunk_eval", "dt_chunk_eval(F1=F1-Score)"),
    callRule("positive_negative_pair", "dt_positive_negative_pair"),
};

}  // namespace

RuleTable metricRules() { return kRules; }

}  // namespace dtranspile::lower
