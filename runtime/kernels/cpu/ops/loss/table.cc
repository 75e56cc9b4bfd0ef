// Library calls: family `loss`.
#include "runtime/kernels/cpu/op_call.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {

FunctionTable LossFunctions() { return {}; }

}  // namespace dtranspile::kernels
