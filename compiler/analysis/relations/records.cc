#include "compiler/analysis/relations/records.h"

#include "llvm/ADT/STLExtras.h"

namespace dtranspile::verify {
namespace {

Labels batchOf(const pd::OpView&, llvm::StringRef, mlir::Value value) { return batchLabels(value); }

void addOperands(const pd::OpView& op, const Clause& clause, SlotLabels labels, Form& form) {
  for (const SlotUse& input : clause.inputs)
    for (mlir::Value value : op.inputs(input.slot))
      if (value)
        form.terms.push_back({value,
                              input.parameter ? wholeLabels(value) : labels(op, input.slot, value),
                              input.use});
}

void giveClause(RuleContext& context, const Clause& clause, Form form, SlotLabels labels) {
  for (const SlotResult& output : clause.outputs)
    for (unsigned i = 0, n = context.op().outputCount(output.slot); i < n; ++i) {
      mlir::Value value = context.op().output(output.slot, i);
      if (!value) continue;
      form.result = output.summed ? wholeLabels(value) : labels(context.op(), output.slot, value);
      form.fold = output.summed ? Fold::Sum : Fold::None;
      context.result(output.slot, i, form);
    }
}

// The forward op that wrote this record of its gradient; null where something else did.
mlir::Operation* writerOf(const pd::OpView& gradient, mlir::Value record, llvm::StringRef slot) {
  mlir::Operation* writer = record.getDefiningOp();
  if (!writer || !pd::OpView::isFrameworkOp(writer)) return nullptr;
  pd::OpView forward(writer);
  const ParsedRule* row = findRule(forward.type());
  if (!row || row->clauses.size() < 2 || (forward.type() + "_grad").str() != gradient.type())
    return nullptr;
  const bool written = llvm::any_of(row->clauses[1].outputs,
                                    [&](const SlotResult& one) { return one.slot == slot; });
  return written && forward.output(slot) == record ? writer : nullptr;
}

// The operands are parts, and the record is not: it was made of something else.
bool ofOtherParts(RuleContext& context, const Form& form, mlir::Value record) {
  const Reading& whole = context.relation(record).whole;
  for (unsigned axis = 0; whole.known && axis < context.axes().count(); ++axis)
    if (whole.states[axis].isReplicated() && llvm::any_of(form.terms, [&](const Term& term) {
          const Reading& one = context.relation(term.value).whole;
          return one.known && one.states[axis].isSplit();
        }))
      return true;
  return false;
}

}  // namespace

// An op with two kinds of results: values by the labels of the first clause, and a record for its
// gradient (second clause), whose dims mean nothing outside and are taken whole.
void giveRecorded(RuleContext& context, SlotLabels labels) {
  const Clause &ordered = context.clauses()[0], &record = context.clauses()[1];
  Form form;
  addOperands(context.op(), ordered, labels, form);
  giveClause(context, ordered, form, labels);
  auto whole = [](const pd::OpView&, llvm::StringRef, mlir::Value value) {
    return wholeLabels(value);
  };
  Form all;
  addOperands(context.op(), ordered, whole, all);
  giveClause(context, record, std::move(all), whole);
}

// The gradient reads a record that nobody can interpret. It is looked through to the forward op
// that wrote it: the gradient is then a function of what that op read, evaluated with the same
// labels. A record that was written of other parts than those that the gradient has is no use to
// it.
void giveRecordedGrad(RuleContext& context, SlotLabels labels) {
  const pd::OpView& op = context.op();
  const Clause &ordered = context.clauses()[0], &record = context.clauses()[1];
  Form form;
  form.combine = Combine::Sum;
  addOperands(op, ordered, labels, form);
  llvm::SmallPtrSet<mlir::Operation*, 2> writers;
  for (const SlotUse& input : record.inputs) {
    mlir::Value value = op.input(input.slot);
    if (!value) continue;
    if (ofOtherParts(context, form, value)) {
      for (const SlotResult& output : ordered.outputs)
        for (unsigned i = 0, n = op.outputCount(output.slot); i < n; ++i)
          context.lose(output.slot, i, "reads a record that was not written of these parts");
      return;
    }
    mlir::Operation* writer = writerOf(op, value, input.slot);
    if (!writer) form.terms.push_back({value, wholeLabels(value), Use::Value});
    else if (writers.insert(writer).second) {
      pd::OpView forward(writer);
      const size_t first = form.terms.size();
      addOperands(forward, findRule(forward.type())->clauses[0], labels, form);
      // A record is no linear function of what was read.
      for (Term& term : llvm::MutableArrayRef(form.terms).drop_front(first))
        if (term.use != Use::Shape) term.use = Use::Value;
    }
  }
  giveClause(context, ordered, std::move(form), labels);
}

void recorded(RuleContext& context) { giveRecorded(context, batchOf); }
void recordedGrad(RuleContext& context) { giveRecordedGrad(context, batchOf); }

}  // namespace dtranspile::verify
