// Library calls: family `creation`.
#include "runtime/kernels/cpu/op_call.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {

FunctionTable CreationFunctions() { return {}; }

}  // namespace dtranspile::kernels
