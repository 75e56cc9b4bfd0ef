// Library calls: family `loss`.
#include "runtime/kernels/cpu/ops/loss/calls.h"
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/ops/loss/sequence_calls.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_crf_decoding", Entry<CrfDecoding>},         {"dt_linear_chain_crf", Entry<LinearChainCrf>}, {"dt_linear_chain_crf_grad", Entry<LinearChainCrfGrad>},
    {"dt_warpctc", Entry<WarpCtc>},                  {"dt_warpctc_grad", Entry<WarpCtcGrad>},
    {"dt_center_loss", Entry<CenterLoss>},
};

}  // namespace

FunctionTable LossFunctions() { return kRows; }

}  // namespace dtranspile::kernels
