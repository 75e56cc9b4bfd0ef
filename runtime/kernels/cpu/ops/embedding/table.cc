// Library calls: family `embedding`.
#include "runtime/kernels/cpu/op_call.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {

FunctionTable EmbeddingFunctions() { return {}; }

}  // namespace dtranspile::kernels
