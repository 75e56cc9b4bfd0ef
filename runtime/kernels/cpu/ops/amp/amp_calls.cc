// Library calls: family `amp`.
#include "runtime/kernels/cpu/ops/amp/calls.h"
#include "runtime/kernels/cpu/ops/families.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_check_finite_and_unscale", Entry<CheckFiniteAndUnscale>, kAnyFloats},
    {"dt_update_loss_scaling", Entry<UpdateLossScaling>, kAnyFloats},
};

}  // namespace

FunctionTable AmpFunctions() { return kRows; }

}  // namespace dtranspile::kernels
