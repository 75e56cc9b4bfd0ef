// Library calls: family `shape`.
#include "runtime/kernels/cpu/op_call.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {

FunctionTable ShapeFunctions() { return {}; }

}  // namespace dtranspile::kernels
