// Library calls: family `optimizer`.
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/ops/optimizer/calls.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_adagrad_rows", Entry<AdagradRows>, kFloats},
    {"dt_adam_rows", Entry<AdamRows>, kFloats},
    {"dt_ftrl_rows", Entry<FtrlRows>, kFloats},
    {"dt_sgd_rows", Entry<SgdRows>, kFloats},
    {"dt_dpsgd", Entry<Dpsgd>, kFloats},
};

}  // namespace

FunctionTable OptimizerFunctions() { return kRows; }

}  // namespace dtranspile::kernels
