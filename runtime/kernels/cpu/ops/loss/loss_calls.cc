// Library calls: family `loss`.
#include "runtime/kernels/cpu/indexing.h"
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/ops/loss/calls.h"
#include "runtime/kernels/cpu/ops/loss/sequence_calls.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_center_loss", Entry<CenterLoss>, kFloats},
    {"dt_check_range", Entry<CheckRange>, kIndices},
    {"dt_crf_decoding", Entry<CrfDecoding>, kFloats},
    {"dt_linear_chain_crf", Entry<LinearChainCrf>, kFloats},
    {"dt_linear_chain_crf_grad", Entry<LinearChainCrfGrad>, kFloats},
    {"dt_viterbi", Entry<Viterbi>, kFloats},
    {"dt_warpctc", Entry<WarpCtc>, kFloats},
    {"dt_warpctc_grad", Entry<WarpCtcGrad>, kFloats},
};

}  // namespace

FunctionTable LossFunctions() { return kRows; }

}  // namespace dtranspile::kernels
