// Library calls: family `host`.
#include "runtime/kernels/cpu/op_call.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {

FunctionTable HostFunctions() { return {}; }

}  // namespace dtranspile::kernels
