// Lowering rules: family `recurrent`. Kernels: runtime/kernels/cpu/ops/recurrent.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

#define DT_RNN "Input, PreState, WeightList, SequenceLength"
#define DT_RNN_ATTRIBUTES "mode, is_bidirec, num_layers, hidden_size, dropout_prob, is_test"

// Both gradients are one kernel. The framework's own loses the gradient of the cell for widths that
// fill its vectors (docs/operators/defects.md): that is said once for every such op, because the
// program trains, and learns less than it should.
llvm::LogicalResult lowerLstmGrad(OpLowering& op) {
  const bool projected = op.op().type() == "lstmp_grad";
  const auto weight = op.in("Weight");
  const bool vectors = weight && weight->dtype == DType::kFloat32 && weight->dims.size() == 2 &&
                       weight->dims[1] % 32 == 0;
  if (vectors && !op.mendsDefects() && (!projected || op.op().getFloat("cell_clip") <= 0)) {
    op.op().operation()->emitWarning()
        << op.op().type()
        << ": the framework's kernel passes no gradient through the cell at widths that are "
           "multiples of 8, here "
        << weight->dims[1] / 4
        << "; its values are reproduced (--mend-defects: the whole gradient)";
  }
  return op.callOp(
      projected ? "dt_lstm_grad(Input, H0, C0, Weight, ProjWeight, Bias, Projection, Cell, "
                  "BatchGate, BatchCellPreAct, BatchHidden, Projection@GRAD;"
                  " use_peepholes, is_reverse, gate_activation, cell_activation, "
                  "candidate_activation, @defects, cell_clip, proj_clip, proj_activation)"
                  " -> Input@GRAD, H0@GRAD, C0@GRAD, Weight@GRAD, ProjWeight@GRAD, Bias@GRAD"
                : "dt_lstm_grad(Input, H0, C0, Weight, ProjWeight, Bias, Hidden, Cell, BatchGate, "
                  "BatchCellPreAct, BatchHidden, Hidden@GRAD;"
                  " use_peepholes, is_reverse, gate_activation, cell_activation, "
                  "candidate_activation, @defects)"
                  " -> Input@GRAD, H0@GRAD, C0@GRAD, Weight@GRAD, ProjWeight@GRAD, Bias@GRAD");
}

const LoweringRule kRules[] = {
    callRule("beam_search",
             "dt_beam_search(pre_ids, pre_scores, ids, scores; level, beam_size, end_id, "
             "is_accumulated) -> selected_ids, selected_scores, parent_idx"),
    callRule(
        "beam_search_decode",
        "dt_beam_search_decode(Ids, Scores; beam_size, end_id) -> SentenceIds, SentenceScores"),
    callRule("gru",
             "dt_gru(Input, H0, Weight, Bias; activation, gate_activation, is_reverse, origin_mode)"
             " -> BatchGate, BatchResetHiddenPrev, BatchHidden, Hidden"),
    callRule("gru_grad",
             "dt_gru_grad(H0, Weight, Bias, BatchGate, BatchResetHiddenPrev, BatchHidden, Hidden, "
             "Hidden@GRAD;"
             " activation, gate_activation, is_reverse, origin_mode) -> Input@GRAD, H0@GRAD, "
             "Weight@GRAD, Bias@GRAD"),
    // lstm and lstmp are one kernel, which sees by ProjWeight which of them it is.
    callRule("lstm",
             "dt_lstm(Input, H0, C0, Weight, ProjWeight, Bias; use_peepholes, is_reverse, "
             "gate_activation, cell_activation, candidate_activation, @defects)"
             " -> Hidden, Cell, BatchGate, BatchCellPreAct, BatchHidden"),
    functionRule("lstm_grad", lowerLstmGrad, "dt_lstm_grad"),
    callRule("lstmp",
             "dt_lstm(Input, H0, C0, Weight, ProjWeight, Bias; use_peepholes, is_reverse, "
             "gate_activation, cell_activation, candidate_activation,"
             " @defects, cell_clip, proj_clip, proj_activation) -> Projection, Cell, BatchGate, "
             "BatchCellPreAct, BatchHidden"),
    functionRule("lstmp_grad", lowerLstmGrad, "dt_lstm_grad"),
    callRule("gru_unit",
             "dt_gru_unit(Input, HiddenPrev, Weight, Bias; activation, gate_activation, "
             "origin_mode) -> Gate, ResetHiddenPrev, Hidden"),
    callRule("gru_unit_grad",
             "dt_gru_unit_grad(Input, HiddenPrev, Weight, Bias, Gate, ResetHiddenPrev, "
             "Hidden@GRAD; activation, gate_activation, origin_mode) -> Input@GRAD, "
             "HiddenPrev@GRAD, Weight@GRAD, Bias@GRAD"),
    callRule("lstm_unit", "dt_lstm_unit(X, C_prev; forget_bias) -> C, H"),
    callRule("lstm_unit_grad",
             "dt_lstm_unit_grad(X, C_prev, C, C@GRAD, H@GRAD; forget_bias) -> X@GRAD, C_prev@GRAD"),
    callRule("rnn", "dt_rnn(" DT_RNN "; " DT_RNN_ATTRIBUTES ") -> Out, State, Reserve"),
    callRule("rnn_grad", "dt_rnn_grad(" DT_RNN ", Reserve, Out@GRAD, State@GRAD; " DT_RNN_ATTRIBUTES
                         ") -> Input@GRAD, PreState@GRAD, WeightList@GRAD"),
};

}  // namespace

RuleTable recurrentRules() { return kRules; }

}  // namespace dtranspile::lower
