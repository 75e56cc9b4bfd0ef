// Library calls: family `logical`.
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/ops/logical/calls.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_equal_all", Entry<EqualAll>}, {"dt_close", Entry<Close>},          {"dt_whole_test", Entry<WholeTest>},
    {"dt_is_empty", Entry<IsEmpty>},   {"dt_where_index", Entry<WhereIndex>}, {"dt_bitwise", Entry<Bitwise>},
};

}  // namespace

FunctionTable LogicalFunctions() { return kRows; }

}  // namespace dtranspile::kernels
