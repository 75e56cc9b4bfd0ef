// Library calls: family `reduction`.
#include "runtime/kernels/cpu/op_call.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {

FunctionTable ReductionFunctions() { return {}; }

}  // namespace dtranspile::kernels
