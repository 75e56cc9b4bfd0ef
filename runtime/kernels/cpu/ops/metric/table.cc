// Library calls: family `metric`.
#include "runtime/kernels/cpu/ops/metric/calls.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_auc", Entry<Auc>},
    {"dt_chunk_eval", Entry<ChunkEval>},
    {"dt_mean_iou", Entry<MeanIou>},
    {"dt_positive_negative_pair", Entry<PositiveNegativePair>},
    {"dt_precision_recall", Entry<PrecisionRecall>},
};

}  // namespace

FunctionTable MetricFunctions() { return kRows; }

}  // namespace dtranspile::kernels
