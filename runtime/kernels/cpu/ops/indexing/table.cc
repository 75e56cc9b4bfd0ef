// Library calls: family `indexing`.
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/ops/indexing/calls.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_gather", Entry<Gather>},
    {"dt_gather_grad", Entry<GatherGrad>},
};

}  // namespace

FunctionTable IndexingFunctions() { return kRows; }

}  // namespace dtranspile::kernels
