// Library calls: family `host`.
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/ops/host/calls.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_print", Entry<Print>, kPlain},
};

}  // namespace

FunctionTable HostFunctions() { return kRows; }

}  // namespace dtranspile::kernels
