// Library calls: family `logical`.
#include "runtime/kernels/cpu/dense_entry.h"
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/ops/logical/calls.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_equal_all", DenseEntry<EqualAll>}, {"dt_close", DenseEntry<Close>},          {"dt_whole_test", DenseEntry<WholeTest>},
    {"dt_is_empty", DenseEntry<IsEmpty>},   {"dt_where_index", DenseEntry<WhereIndex>}, {"dt_bitwise", DenseEntry<Bitwise>},
};

}  // namespace

FunctionTable LogicalFunctions() { return kRows; }

}  // namespace dtranspile::kernels
