// Library calls: family `recurrent`.
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/ops/recurrent/calls.h"
#include "runtime/kernels/cpu/ops/recurrent/lod_calls.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_beam_search", Entry<BeamSearch>},
    {"dt_beam_search_decode", Entry<BeamSearchDecode>},
    {"dt_gru", Entry<LodGru>},
    {"dt_gru_grad", Entry<LodGruGrad>},
    {"dt_gru_unit", Entry<GruUnit>},
    {"dt_gru_unit_grad", Entry<GruUnitGrad>},
    {"dt_lstm", Entry<LodLstm>},
    {"dt_lstm_grad", Entry<LodLstmGrad>},
    {"dt_lstm_unit", Entry<LstmUnit>},
    {"dt_lstm_unit_grad", Entry<LstmUnitGrad>},
    {"dt_rnn", Entry<Rnn>},
    {"dt_rnn_grad", Entry<RnnGrad>},
};

}  // namespace

FunctionTable RecurrentFunctions() { return kRows; }

}  // namespace dtranspile::kernels
