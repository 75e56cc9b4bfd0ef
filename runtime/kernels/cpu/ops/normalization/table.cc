// Library calls: family `normalization`.
#include "runtime/kernels/cpu/op_call.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {

FunctionTable NormalizationFunctions() { return {}; }

}  // namespace dtranspile::kernels
