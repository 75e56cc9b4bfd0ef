// Library calls: family `optimizer`.
#include "runtime/kernels/cpu/op_call.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {

FunctionTable OptimizerFunctions() { return {}; }

}  // namespace dtranspile::kernels
