// Library calls: family `creation`.
#include "runtime/kernels/cpu/ops/creation/calls.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_fill_constant", Entry<FillConstant>},
    {"dt_fill_batch_like", Entry<FillBatchLike>},
    {"dt_fill_like", Entry<FillLike>},
    {"dt_assign_value", Entry<AssignValue>},
    {"dt_fill", Entry<Fill>},
    {"dt_empty", Entry<Empty>},
    {"dt_eye", Entry<Eye>},
    {"dt_coalesce", Entry<Coalesce>},
    {"dt_range", Entry<Range>},
    {"dt_linspace", Entry<Linspace>},
};

}  // namespace

FunctionTable CreationFunctions() { return kRows; }

}  // namespace dtranspile::kernels
