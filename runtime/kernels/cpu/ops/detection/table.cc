// Library calls: family `detection`.
#include "runtime/kernels/cpu/op_call.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {

FunctionTable DetectionFunctions() { return {}; }

}  // namespace dtranspile::kernels
