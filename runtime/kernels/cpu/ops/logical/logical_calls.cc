// Library calls: family `logical`.
#include "runtime/kernels/cpu/dense_entry.h"
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/ops/logical/calls.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_equal_all", DenseEntry<EqualAll>, kPlain},
    {"dt_close", DenseEntry<Close>, kNumbers},
    {"dt_whole_test", DenseEntry<WholeTest>, kNumbers},
    {"dt_is_empty", DenseEntry<IsEmpty>, kAnyType},
    {"dt_where_index", DenseEntry<WhereIndex>, kPlain},
    {"dt_bitwise", DenseEntry<Bitwise>, kWholes},
};

}  // namespace

FunctionTable LogicalFunctions() { return kRows; }

}  // namespace dtranspile::kernels
