// Library calls: family `control_flow`.
#include "runtime/kernels/cpu/op_call.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {

FunctionTable ControlFlowFunctions() { return {}; }

}  // namespace dtranspile::kernels
