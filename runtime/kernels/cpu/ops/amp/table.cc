// Library calls: family `amp`.
#include "runtime/kernels/cpu/op_call.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {

FunctionTable AmpFunctions() { return {}; }

}  // namespace dtranspile::kernels
