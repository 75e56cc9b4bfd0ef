// Library calls: family `recurrent`.
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/ops/recurrent/lod_calls.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_beam_search", Entry<BeamSearch>},
    {"dt_beam_search_decode", Entry<BeamSearchDecode>},
    {"dt_gru", Entry<LodGru>},
    {"dt_gru_grad", Entry<LodGruGrad>},
    {"dt_lstm", Entry<LodLstm>},
    {"dt_lstm_grad", Entry<LodLstmGrad>},
};

}  // namespace

FunctionTable RecurrentFunctions() { return kRows; }

}  // namespace dtranspile::kernels
