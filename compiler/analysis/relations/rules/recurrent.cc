// Relation rules: family `recurrent`. Samples do not see each other, so what goes in and out in the
// order of the batch is split along it. What an op writes down for its gradient (gates sorted by
// length, a reserve buffer) is in an order of its own: known in parts only. A gradient that reads
// the record of the run over the very values that it reads itself is a function of those values.
// Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

// `rnn`: steps along dim 0, samples along dim 1; `SequenceLength` has one entry per sample. Ragged
// ops: dim 0 is rows of sequences, or sequences.
Labels sampleLabels(const pd::OpView& op, mlir::Value value) {
  if (!op.type().starts_with("rnn") || rankOf(value) < 2) return batchLabels(value);
  Labels labels = wholeLabels(value);
  labels[1] = 0;
  return labels;
}

void recurrent(RuleContext& context);

// The op is one that writes this record: its row says so.
bool writes(mlir::Operation* op, const Clause& record) {
  const ParsedRule* row =
      op && pd::OpView::isFrameworkOp(op) ? findRule(pd::OpView(op).type()) : nullptr;
  if (!row || row->rule != recurrent) return false;
  const std::vector<SlotResult>& written = row->clauses[1].outputs;
  return written.size() == record.inputs.size() &&
         llvm::all_of(record.inputs, [&](const SlotUse& input) {
           return llvm::any_of(written,
                               [&](const SlotResult& one) { return one.slot == input.slot; });
         });
}

// The records among the operands were written by the forward op over the same values.
bool readsOwnRecord(const pd::OpView& op, const Clause& record) {
  for (const SlotUse& input : record.inputs) {
    mlir::Value value = op.input(input.slot);
    if (!value) continue;
    mlir::Operation* writer = value.getDefiningOp();
    if (!writes(writer, record)) return false;
    pd::OpView forward(writer);
    if (forward.output(input.slot) != value) return false;
    for (const std::string& slot : forward.inputSlots())
      if (forward.inputs(slot) != op.inputs(slot)) return false;
  }
  return true;
}

// Masks between the layers are drawn anew in every step.
bool draws(const pd::OpView& op) {
  return op.type() == "rnn" && op.getFloat("dropout_prob") > 0 && !op.getBool("is_test") &&
         op.getInt("num_layers") > 1;
}

// Clauses: what has the order of the batch; the record.
void recurrent(RuleContext& context) {
  const pd::OpView& op = context.op();
  if (draws(op) && op.input("Input")) demandStreams(context, op.input("Input"));
  auto labels = [&](mlir::Value value) { return sampleLabels(op, value); };
  const Clause& ordered = context.clauses()[0];
  giveResults(context, ordered, formOf(context, ordered, labels), labels);
  Clause record = context.clauses()[1];
  record.inputs = ordered.inputs;
  giveResults(context, record, formOf(context, record, wholeLabels), wholeLabels);
}

// Clauses: gradients of operands in the order of the batch, and of parameters, together linear in
// the gradients of results; the record.
void recurrentGrad(RuleContext& context) {
  const pd::OpView& op = context.op();
  auto labels = [&](mlir::Value value) { return sampleLabels(op, value); };
  const Clause &ordered = context.clauses()[0], &record = context.clauses()[1];
  Form form = formOf(context, ordered, labels);
  form.combine = Combine::Sum;
  if (!readsOwnRecord(op, record)) form.terms.append(formOf(context, record, wholeLabels).terms);
  giveResults(context, ordered, form, labels);
}

const RuleRow kRows[] = {
    {"lstm", recurrent,
     "Input, H0, C0, Weight:w, Bias:w -> Hidden, Cell; -> BatchGate, BatchCellPreAct",
     "use_peepholes, is_reverse, gate_activation, cell_activation, candidate_activation, is_test"},
    {"lstm_grad", recurrentGrad,
     "Hidden@GRAD:l, Bias:w, C0, Cell, H0, Hidden, Input, Weight:w -> C0@GRAD, H0@GRAD, "
     "Input@GRAD, +Bias@GRAD, +Weight@GRAD; "
     "BatchCellPreAct, BatchGate ->",
     "use_peepholes, is_reverse, gate_activation, cell_activation, candidate_activation, is_test"},
    {"gru", recurrent,
     "Input, H0, Weight:w, Bias:w -> Hidden; -> BatchGate, BatchResetHiddenPrev, BatchHidden",
     "activation, gate_activation, is_reverse, origin_mode, is_test"},
    {"gru_grad", recurrentGrad,
     "Hidden@GRAD:l, Bias:w, H0, Hidden, Input, Weight:w -> H0@GRAD, Input@GRAD, +Bias@GRAD, "
     "+Weight@GRAD; "
     "BatchGate, BatchHidden, BatchResetHiddenPrev ->",
     "activation, gate_activation, is_reverse, origin_mode, is_test"},
    {"rnn", recurrent,
     "Input, PreState, SequenceLength, WeightList:w -> Out, State; -> DropoutState, Reserve",
     "dropout_prob, is_bidirec, input_size, hidden_size, num_layers, mode, seed, is_test"},
    {"rnn_grad", recurrentGrad,
     "Out@GRAD:l, State@GRAD:l, Input, Out, PreState, SequenceLength, WeightList:w -> Input@GRAD, "
     "PreState@GRAD, +WeightList@GRAD; "
     "DropoutState, Reserve ->",
     "dropout_prob, is_bidirec, input_size, hidden_size, num_layers, mode, seed, is_test"},
};

}  // namespace

llvm::ArrayRef<RuleRow> recurrentRules() { return kRows; }

}  // namespace dtranspile::verify
