// Rows of the op table: family `recurrent`. Notation: op_table.h; read by op_table.cc.

#include "dialects/pd/ops/families.h"
#include "dialects/pd/ops/infer_common.h"
#include "dialects/pd/ops/infer_sequence.h"

namespace dtranspile::pd {
namespace {

constexpr const char* kLstmAttributes =
    "use_peepholes:b=true, is_reverse:b=false, gate_activation:s=sigmoid, cell_activation:s=tanh, "
    "candidate_activation:s=tanh, is_test:b=false";

constexpr const char* kLstmpAttributes =
    "use_peepholes:b=true, is_reverse:b=false, cell_clip:f=0, proj_clip:f=0, "
    "gate_activation:s=sigmoid, cell_activation:s=tanh, "
    "candidate_activation:s=tanh, proj_activation:s=tanh";

constexpr const char* kGruAttributes =
    "activation:s=tanh, gate_activation:s=sigmoid, is_reverse:b=false, origin_mode:b=false, "
    "is_test:b=false";

constexpr const char* kGruUnitAttributes =
    "activation:i=2, gate_activation:i=1, origin_mode:b=false";

constexpr const char* kRnnAttributes =
    "dropout_prob:f=0, is_bidirec:b=false, input_size:i=10, hidden_size:i=100, num_layers:i=1, "
    "mode:s=RNN_TANH, seed:i=0, is_test:b=false";

const OpRow kRows[] = {
    {"lstm", "Input, H0?, C0?, Weight, Bias -> Hidden, Cell, BatchGate, BatchCellPreAct",
     kLstmAttributes, kPure, inferLstm, kLstmConstraints},
    {"lstm_grad",
     "BatchCellPreAct?, BatchGate?, Bias?, C0?, Cell?, H0?, Hidden?, Hidden@GRAD, Input?, Weight? "
     "-> Bias@GRAD?, C0@GRAD?, H0@GRAD?, Input@GRAD?, "
     "Weight@GRAD?",
     kLstmAttributes, kPure, inferGradients},
    {"lstmp",
     "Input, H0?, C0?, Weight, ProjWeight, Bias -> Projection, Cell, BatchGate, BatchCellPreAct, "
     "BatchHidden",
     kLstmpAttributes, kPure, inferLstmp},
    {"lstmp_grad",
     "BatchCellPreAct?, BatchGate?, BatchHidden?, Bias?, C0?, Cell?, H0?, ProjWeight?, "
     "Projection?, Projection@GRAD, Weight? -> Bias@GRAD?, C0@GRAD?, "
     "H0@GRAD?, Input@GRAD?, ProjWeight@GRAD?, Weight@GRAD?",
     kLstmpAttributes, kPure, inferLstmpGrad},
    {"lstm_unit", "X, C_prev -> C, H", "forget_bias:f=0", kPure, inferLstmUnit},
    {"lstm_unit_grad", "C?, C@GRAD?, C_prev?, H@GRAD?, X? -> C_prev@GRAD?, X@GRAD?",
     "forget_bias:f=0", kPure, inferGradients},
    {"gru", "Input, H0?, Weight, Bias? -> BatchGate, BatchResetHiddenPrev, BatchHidden, Hidden",
     kGruAttributes, kPure, inferGru},
    {"gru_grad",
     "BatchGate?, BatchHidden?, BatchResetHiddenPrev?, Bias?, H0?, Hidden?, Hidden@GRAD, Input?, "
     "Weight? -> Bias@GRAD?, H0@GRAD?, Input@GRAD?, Weight@GRAD?",
     kGruAttributes, kPure, inferGradients},
    {"gru_unit", "Input, HiddenPrev, Weight, Bias? -> Gate, ResetHiddenPrev, Hidden",
     kGruUnitAttributes, kPure, inferGruUnit},
    {"gru_unit_grad",
     "Bias?, Gate?, Hidden@GRAD, HiddenPrev?, Input?, ResetHiddenPrev?, Weight? -> Bias@GRAD?, "
     "HiddenPrev@GRAD?, Input@GRAD?, Weight@GRAD?",
     kGruUnitAttributes, kPure, inferGradients},
    {"cudnn_lstm",
     "Input, InitH, InitC, W?, Cache?, WeightList*, SequenceLength? -> Out, last_h?, last_c?, "
     "Reserve?, StateOut?, LastH?, LastC?",
     "max_len:i=20, dropout_prob:f=0, is_bidirec:b=false, input_size:i=10, hidden_size:i=100, "
     "num_layers:i=1, is_test:b=false, seed:i=0",
     kRandom, nullptr},
    {"rnn", "Input, PreState+, WeightList+, SequenceLength? -> Out, DropoutState?, State*, Reserve",
     kRnnAttributes, kRandom, inferRnn},
    {"rnn_grad",
     "DropoutState?, Input?, Out?, Out@GRAD?, PreState*, Reserve?, SequenceLength?, State@GRAD*, "
     "WeightList* -> Input@GRAD?, PreState@GRAD*, "
     "WeightList@GRAD*",
     kRnnAttributes, kPure, inferGradients},
    {"beam_search",
     "pre_ids, pre_scores, ids?, scores -> selected_ids, selected_scores, parent_idx?",
     "level:i, beam_size:i, end_id:i, is_accumulated:b=true", kPure, inferBeamSearch},
    {"beam_search_decode", "Ids, Scores -> SentenceIds, SentenceScores", "beam_size:i, end_id:i",
     kPure, inferBeamSearchDecode},
};

}  // namespace

Family recurrentFamily() { return {"recurrent", kRows}; }

}  // namespace dtranspile::pd
