// Library calls: family `tensor_array`.
#include "runtime/kernels/cpu/op_call.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {

FunctionTable TensorArrayFunctions() { return {}; }

}  // namespace dtranspile::kernels
