// Library calls: family `sequence`.
#include "runtime/kernels/cpu/op_call.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {

FunctionTable SequenceFunctions() { return {}; }

}  // namespace dtranspile::kernels
