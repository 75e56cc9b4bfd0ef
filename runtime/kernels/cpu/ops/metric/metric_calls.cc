// Library calls: family `metric`.
#include "runtime/kernels/cpu/indexing.h"
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/ops/metric/calls.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_accuracy", Entry<Accuracy>, kFloats},
    {"dt_auc", Entry<Auc>, kFloats},
    {"dt_chunk_eval", Entry<ChunkEval>, kIndices},
    {"dt_mean_iou", Entry<MeanIou>, kIndices},
    {"dt_positive_negative_pair", Entry<PositiveNegativePair>, kFloats},
    {"dt_precision_recall", Entry<PrecisionRecall>, kFloats},
};

}  // namespace

FunctionTable MetricFunctions() { return kRows; }

}  // namespace dtranspile::kernels
