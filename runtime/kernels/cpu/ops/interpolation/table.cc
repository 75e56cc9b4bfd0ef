// Library calls: family `interpolation`.
#include "runtime/kernels/cpu/op_call.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {

FunctionTable InterpolationFunctions() { return {}; }

}  // namespace dtranspile::kernels
