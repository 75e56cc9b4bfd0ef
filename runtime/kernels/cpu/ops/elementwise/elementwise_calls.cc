// Library calls: family `elementwise`.
#include "runtime/kernels/cpu/op_call.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {

FunctionTable ElementwiseFunctions() { return {}; }

}  // namespace dtranspile::kernels
