// Library calls: family `linear_algebra`.
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/ops/linear_algebra/calls.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_mul", Entry<Mul>},
    {"dt_mul_grad", Entry<MulGrad>},
};

}  // namespace

FunctionTable LinearAlgebraFunctions() { return kRows; }

}  // namespace dtranspile::kernels
