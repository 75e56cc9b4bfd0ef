// Library calls: family `reduction`.
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/ops/reduction/calls.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_arg_extreme", Entry<ArgExtreme>, kNumbers},
    {"dt_cumprod", Entry<CumulativeProduct>, kNumbers},
    {"dt_cumprod_grad", Entry<CumulativeProductGrad>, kNumbers},
    {"dt_cumsum", Entry<CumulativeSum>, kNumbers},
    {"dt_cumulative_extreme", Entry<CumulativeExtreme>, kNumbers},
    {"dt_cumulative_extreme_grad", Entry<CumulativeExtremeGrad>, kNumbers},
    {"dt_histogram", Entry<Histogram>, kNumbers},
    {"dt_kth_value", Entry<KthValue>, kNumbers},
    {"dt_log_cumsum", Entry<LogCumulativeSum>, kFloats},
    {"dt_log_cumsum_grad", Entry<LogCumulativeSumGrad>, kFloats},
    {"dt_bin_count", Entry<BinCount>, kNumbers},
    {"dt_nan_median", Entry<NanMedian>, kNumbers},
    {"dt_nan_median_grad", Entry<NanMedianGrad>, kNumbers},
    {"dt_mode", Entry<Mode>, kNumbers},
    {"dt_search_sorted", Entry<SearchSorted>, kNumbers},
    {"dt_selected_grad", Entry<SelectedGrad>, kNumbers},
    {"dt_sort", Entry<Sort>, kNumbers},
    {"dt_top_k", Entry<TopK>, kNumbers},
    {"dt_unique", Entry<Unique>, kNumbers},
};

}  // namespace

FunctionTable ReductionFunctions() { return kRows; }

}  // namespace dtranspile::kernels
