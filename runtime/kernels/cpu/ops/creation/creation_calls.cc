// Library calls: family `creation`.
#include "runtime/kernels/cpu/dense_entry.h"
#include "runtime/kernels/cpu/ops/creation/calls.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_fill_constant", DenseEntry<FillConstant>, kPlain},
    {"dt_fill_batch_like", DenseEntry<FillBatchLike>, kPlain},
    {"dt_fill_like", Entry<FillLike>, kPlain},
    {"dt_assign_value", DenseEntry<AssignValue>, kPlain},
    {"dt_fill", DenseEntry<Fill>, kPlain},
    {"dt_empty", DenseEntry<Empty>, kAnyType},
    {"dt_eye", DenseEntry<Eye>, kPlain},
    {"dt_coalesce", DenseEntry<Coalesce>, kAnyType},
    {"dt_range", DenseEntry<Range>, kNumbers},
    {"dt_linspace", DenseEntry<Linspace>, kNumbers},
    {"dt_logspace", DenseEntry<Logspace>, kNumbers},
    {"dt_triangle", DenseEntry<Triangle>, kNumbers},
};

}  // namespace

FunctionTable CreationFunctions() { return kRows; }

}  // namespace dtranspile::kernels
