// Library calls: family `logical`.
#include "runtime/kernels/cpu/op_call.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {

FunctionTable LogicalFunctions() { return {}; }

}  // namespace dtranspile::kernels
