// Lowering rules: family `metric`.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

const LoweringRule kRules[] = {
    callRule("accuracy", "dt_accuracy"),
    callRule("auc", "dt_auc"),
    callRule("precision_recall", "dt_precision_recall"),
    callRule("mean_iou", "dt_mean_iou"),
    callRule("chunk_eval", "dt_chunk_eval(F1=F1-Score)"),
    callRule("positive_negative_pair", "dt_positive_negative_pair"),
};

}  // namespace

RuleTable metricRules() { return kRules; }

}  // namespace dtranspile::lower
