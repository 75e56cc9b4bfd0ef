// Library calls: family `optimizer`.
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/ops/optimizer/calls.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_adagrad_rows", Entry<AdagradRows>},
    {"dt_adam_rows", Entry<AdamRows>},
    {"dt_ftrl_rows", Entry<FtrlRows>},
    {"dt_sgd_rows", Entry<SgdRows>},
    {"dt_dpsgd", Entry<Dpsgd>},
};

}  // namespace

FunctionTable OptimizerFunctions() { return kRows; }

}  // namespace dtranspile::kernels
