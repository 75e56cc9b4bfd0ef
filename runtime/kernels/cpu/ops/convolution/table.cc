// Library calls: family `convolution`.
#include "runtime/kernels/cpu/op_call.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {

FunctionTable ConvolutionFunctions() { return {}; }

}  // namespace dtranspile::kernels
