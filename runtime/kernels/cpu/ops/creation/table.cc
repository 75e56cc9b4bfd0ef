// Library calls: family `creation`.
#include "runtime/kernels/cpu/dense_entry.h"
#include "runtime/kernels/cpu/ops/creation/calls.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_fill_constant", DenseEntry<FillConstant>},
    {"dt_fill_batch_like", DenseEntry<FillBatchLike>},
    {"dt_fill_like", Entry<FillLike>},
    {"dt_assign_value", DenseEntry<AssignValue>},
    {"dt_fill", DenseEntry<Fill>},
    {"dt_empty", DenseEntry<Empty>},
    {"dt_eye", DenseEntry<Eye>},
    {"dt_coalesce", DenseEntry<Coalesce>},
    {"dt_range", DenseEntry<Range>},
    {"dt_linspace", DenseEntry<Linspace>},
};

}  // namespace

FunctionTable CreationFunctions() { return kRows; }

}  // namespace dtranspile::kernels
