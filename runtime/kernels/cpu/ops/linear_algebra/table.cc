// Library calls: family `linear_algebra`.
#include "runtime/kernels/cpu/op_call.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {

FunctionTable LinearAlgebraFunctions() { return {}; }

}  // namespace dtranspile::kernels
