// Relation rules: family `recurrent`. Samples do not see each other, so what goes in and out in the
// order of the batch is split along it. Gates sorted by length and reserve buffers are records
// (records.h). Notation: rule.h.
#include "compiler/analysis/relations/records.h"
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

// `rnn`: steps along dim 0, samples along dim 1; `SequenceLength` has one entry per sample. Ragged
// ops: dim 0 is rows of sequences, or sequences.
Labels sampleLabels(const pd::OpView& op, llvm::StringRef, mlir::Value value) {
  if (!op.type().starts_with("rnn") || rankOf(value) < 2) return batchLabels(value);
  Labels labels = wholeLabels(value);
  labels[1] = 0;
  return labels;
}

// Masks between the layers are drawn anew in every step.
bool draws(const pd::OpView& op) {
  return op.type() == "rnn" && op.getFloat("dropout_prob") > 0 && !op.getBool("is_test") &&
         op.getInt("num_layers") > 1;
}

void recurrent(RuleContext& context) {
  const pd::OpView& op = context.op();
  if (draws(op) && op.input("Input")) demandStreams(context, op.input("Input"));
  giveRecorded(context, sampleLabels);
}

void recurrentGrad(RuleContext& context) { giveRecordedGrad(context, sampleLabels); }

#define DT_LSTM "use_peepholes, is_reverse, gate_activation, cell_activation, candidate_activation"
#define DT_LSTMP DT_LSTM ", cell_clip, proj_clip, proj_activation"
#define DT_GRU "activation, gate_activation, is_reverse, origin_mode, is_test"
#define DT_RNN "dropout_prob, is_bidirec, input_size, hidden_size, num_layers, mode, seed, is_test"

constexpr const char* kDecoding =
    "hypotheses of all sentences lie after each other in one list, whose length depends on the "
    "data";

const RuleRow kRows[] = {
    {"lstm", recurrent,
     "Input, H0, C0, Weight:w, Bias:w -> Hidden, Cell; -> BatchGate, BatchCellPreAct",
     DT_LSTM ", is_test"},
    {"lstm_grad", recurrentGrad,
     "Hidden@GRAD:l, Bias:w, C0, Cell, H0, Hidden, Input, Weight:w -> C0@GRAD, H0@GRAD, "
     "Input@GRAD, +Bias@GRAD, +Weight@GRAD; "
     "BatchCellPreAct, BatchGate ->",
     DT_LSTM ", is_test"},
    {"lstmp", recurrent,
     "Input, H0, C0, Weight:w, ProjWeight:w, Bias:w -> Projection, Cell; -> BatchGate, "
     "BatchCellPreAct, BatchHidden",
     DT_LSTMP},
    {"lstmp_grad", recurrentGrad,
     "Projection@GRAD:l, Bias:w, C0, Cell, H0, ProjWeight:w, Projection, Weight:w -> C0@GRAD, "
     "H0@GRAD, Input@GRAD, +Bias@GRAD, +ProjWeight@GRAD, +Weight@GRAD; "
     "BatchCellPreAct, BatchGate, BatchHidden ->",
     DT_LSTMP},
    {"gru", recurrent,
     "Input, H0, Weight:w, Bias:w -> Hidden; -> BatchGate, BatchResetHiddenPrev, BatchHidden",
     DT_GRU},
    {"gru_grad", recurrentGrad,
     "Hidden@GRAD:l, Bias:w, H0, Hidden, Input, Weight:w -> H0@GRAD, Input@GRAD, +Bias@GRAD, "
     "+Weight@GRAD; "
     "BatchGate, BatchHidden, BatchResetHiddenPrev ->",
     DT_GRU},
    {"rnn", recurrent,
     "Input, PreState, SequenceLength, WeightList:w -> Out, State; -> DropoutState, Reserve",
     DT_RNN},
    {"rnn_grad", recurrentGrad,
     "Out@GRAD:l, State@GRAD:l, Input, Out, PreState, SequenceLength, WeightList:w -> Input@GRAD, "
     "PreState@GRAD, +WeightList@GRAD; "
     "DropoutState, Reserve ->",
     DT_RNN},
    {"gru_unit", batchwise, "Input, HiddenPrev, Weight:w, Bias:w -> Gate, ResetHiddenPrev, Hidden",
     "activation, gate_activation, origin_mode"},
    {"gru_unit_grad", batchwise,
     "Hidden@GRAD:l, Bias:w, Gate, HiddenPrev, Input, ResetHiddenPrev, Weight:w -> "
     "HiddenPrev@GRAD, Input@GRAD, +Bias@GRAD, +Weight@GRAD",
     "activation, gate_activation, origin_mode"},
    {"lstm_unit", batchwise, "X, C_prev -> C, H", "forget_bias"},
    {"lstm_unit_grad", batchwise, "C@GRAD:l, H@GRAD:l, C, C_prev, X => C_prev@GRAD, X@GRAD",
     "forget_bias"},
    {"beam_search", kNoRule, kDecoding},
    {"beam_search_decode", kNoRule, kDecoding},
};

}  // namespace

llvm::ArrayRef<RuleRow> recurrentRules() { return kRows; }

}  // namespace dtranspile::verify
