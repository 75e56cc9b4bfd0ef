// Library calls: family `activation`.
#include "runtime/kernels/cpu/op_call.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {

FunctionTable ActivationFunctions() { return {}; }

}  // namespace dtranspile::kernels
