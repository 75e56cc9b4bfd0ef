// Library calls: family `reduction`.
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/ops/reduction/calls.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_arg_extreme", Entry<ArgExtreme>},
    {"dt_cumprod", Entry<CumulativeProduct>},
    {"dt_cumprod_grad", Entry<CumulativeProductGrad>},
    {"dt_cumsum", Entry<CumulativeSum>},
    {"dt_histogram", Entry<Histogram>},
    {"dt_kth_value", Entry<KthValue>},
    {"dt_mode", Entry<Mode>},
    {"dt_search_sorted", Entry<SearchSorted>},
    {"dt_selected_grad", Entry<SelectedGrad>},
    {"dt_sort", Entry<Sort>},
    {"dt_top_k", Entry<TopK>},
    {"dt_unique", Entry<Unique>},
};

}  // namespace

FunctionTable ReductionFunctions() { return kRows; }

}  // namespace dtranspile::kernels
