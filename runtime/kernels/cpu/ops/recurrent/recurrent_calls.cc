// Library calls: family `recurrent`.
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/ops/recurrent/calls.h"
#include "runtime/kernels/cpu/ops/recurrent/lod_calls.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_beam_search", Entry<BeamSearch>, kFloats | kIndices},
    {"dt_beam_search_decode", Entry<BeamSearchDecode>, kAnyType},
    {"dt_gru", Entry<LodGru>, kFloats},
    {"dt_gru_grad", Entry<LodGruGrad>, kFloats},
    {"dt_gru_unit", Entry<GruUnit>, kFloats},
    {"dt_gru_unit_grad", Entry<GruUnitGrad>, kFloats},
    {"dt_lstm", Entry<LodLstm>, kFloats},
    {"dt_lstm_grad", Entry<LodLstmGrad>, kFloats},
    {"dt_lstm_unit", Entry<LstmUnit>, kFloats},
    {"dt_lstm_unit_grad", Entry<LstmUnitGrad>, kFloats},
    {"dt_rnn", Entry<Rnn>, kFloats},
    {"dt_rnn_grad", Entry<RnnGrad>, kFloats},
};

}  // namespace

FunctionTable RecurrentFunctions() { return kRows; }

}  // namespace dtranspile::kernels
