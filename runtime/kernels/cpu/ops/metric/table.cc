// Library calls: family `metric`.
#include "runtime/kernels/cpu/op_call.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {

FunctionTable MetricFunctions() { return {}; }

}  // namespace dtranspile::kernels
