// Library calls: family `random`.
#include "runtime/kernels/cpu/op_call.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {

FunctionTable RandomFunctions() { return {}; }

}  // namespace dtranspile::kernels
