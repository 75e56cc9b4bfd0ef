// Library calls: family `recurrent`.
#include "runtime/kernels/cpu/op_call.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {

FunctionTable RecurrentFunctions() { return {}; }

}  // namespace dtranspile::kernels
