#include "compiler/analysis/relations/kinds.h"

#include <map>

#include "dialects/dist/lookup.h"
#include "dialects/pd/pd.h"
#include "llvm/ADT/STLExtras.h"

namespace dtranspile::verify {
namespace {

// The operand that others are broadcast to: of highest rank, the first of them.
mlir::Value frameOf(RuleContext& context, const Clause& clause) {
  mlir::Value frame;
  auto consider = [&](mlir::Value value) {
    if (value && (!frame || rankOf(value) > rankOf(frame))) frame = value;
  };
  for (const SlotUse& input : clause.inputs)
    for (mlir::Value value : context.op().inputs(input.slot)) consider(value);
  for (const SlotResult& output : clause.outputs)
    for (mlir::Value value : context.op().outputs(output.slot)) consider(value);
  return frame;
}

// Dim of the frame at which an operand of lower rank begins.
int alignment(RuleContext& context, mlir::Value value, int frameRank) {
  int rank = rankOf(value);
  int64_t axis = -1;
  if (context.op().spec()->attribute("axis")) axis = context.op().getInt("axis");
  return axis < 0 || rank == frameRank ? frameRank - rank
                                       : static_cast<int>(std::min<int64_t>(axis, frameRank - 1));
}

// Extents that the clause's tensors have together: per dim of the frame the one that is not 1.
llvm::SmallVector<int64_t> frameExtents(RuleContext& context, const Clause& clause,
                                        mlir::Value frame) {
  llvm::SmallVector<int64_t> extents = dimsOf(frame);
  auto widen = [&](mlir::Value value) {
    if (!value || rankOf(value) > static_cast<int>(extents.size())) return;
    const int at = alignment(context, value, static_cast<int>(extents.size()));
    for (auto [i, other] : llvm::enumerate(dimsOf(value)))
      if (size_t dim = at + i; dim < extents.size() && extents[dim] == 1) extents[dim] = other;
  };
  for (const SlotUse& input : clause.inputs)
    for (mlir::Value value : context.op().inputs(input.slot)) widen(value);
  return extents;
}

// Operands that one clause does not read are there all the same: an op looks at the extents of all.
// Parameters have none in common with the others, and neither has what is made of them alone.
void addOthers(RuleContext& context, const Clause& made,
               llvm::function_ref<Labels(mlir::Value)> labels, Form& form) {
  const pd::OpView& op = context.op();
  if (llvm::all_of(made.inputs, [](const SlotUse& input) { return input.parameter; })) return;
  for (const std::string& slot : op.inputSlots()) {
    const bool parameter = llvm::any_of(context.clauses(), [&](const Clause& clause) {
      return llvm::any_of(clause.inputs, [&](const SlotUse& input) {
        return input.slot == slot && input.parameter;
      });
    });
    for (mlir::Value value : parameter ? std::vector<mlir::Value>() : op.inputs(slot))
      if (value && llvm::none_of(form.terms, [&](const Term& term) { return term.value == value; }))
        form.terms.push_back({value, labels(value), Use::Shape});
  }
}

// The labels of one operand of kind `labelled`.
Labels patternLabels(mlir::Value value, llvm::StringRef pattern) {
  constexpr int kRest = 1000;  // labels of `_`, counted from the right
  const int rank = rankOf(value);
  const size_t rest = pattern.find('_');
  const int named = static_cast<int>(pattern.size()) - (rest == llvm::StringRef::npos ? 0 : 1);
  Labels all;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '*') all.push_back(kWholeDim);
    else if (c != '_') all.push_back(c);
    else
      for (int left = rank - named; left > 0; --left) all.push_back(kRest + left);
  }
  const int lacks = static_cast<int>(all.size()) - rank;
  if (lacks >= 0) all.erase(all.begin(), all.begin() + lacks);
  else all.insert(all.begin(), -lacks, kWholeDim);
  return all;
}

}  // namespace

// Dim i of an operand meets dim at + i of the frame; an extent of 1 that is broadcast meets none.
Labels alignedLabels(mlir::Value value, llvm::ArrayRef<int64_t> frame, int at) {
  Labels labels;
  for (auto [i, extent] : llvm::enumerate(dimsOf(value))) {
    int dim = at + static_cast<int>(i);
    bool inside = dim >= 0 && dim < static_cast<int>(frame.size());
    labels.push_back(!inside || (extent == 1 && frame[dim] != 1) ? kBroadcastDim : dim);
  }
  return labels;
}

// Rows are independent of one another, everything within a row is not.
Labels batchLabels(mlir::Value value) {
  Labels labels(rankOf(value), kWholeDim);
  if (!labels.empty()) labels[0] = 0;
  return labels;
}

Labels wholeLabels(mlir::Value value) { return Labels(rankOf(value), kWholeDim); }

// The terms of a clause: every argument of its input slots, with the labels of its dims and the use
// that the row gives the slot. Integers that stand for a float are read by value: they cannot be
// scaled.
Form formOf(RuleContext& context, const Clause& clause,
            llvm::function_ref<Labels(mlir::Value)> labels) {
  Form form;
  if (clause.sum) form.combine = Combine::Sum;
  for (const SlotUse& input : clause.inputs)
    for (mlir::Value value : context.op().inputs(input.slot)) {
      if (!value) continue;
      const Use use = input.floats && isIntegral(value) ? Use::Value : input.use;
      form.terms.push_back({value, input.parameter ? wholeLabels(value) : labels(value), use});
    }
  return form;
}

// The same form for all results of the clause, each with its own dims; a slot marked with + is a
// sum over all that it lacks.
void giveResults(RuleContext& context, const Clause& clause, Form form,
                 llvm::function_ref<Labels(mlir::Value)> labels) {
  for (const SlotResult& output : clause.outputs)
    for (unsigned i = 0, n = context.op().outputCount(output.slot); i < n; ++i) {
      mlir::Value value = context.op().output(output.slot, i);
      if (!value) continue;
      form.result = output.summed ? wholeLabels(value) : labels(value);
      if (output.summed) form.fold = Fold::Sum;
      context.result(output.slot, i, form);
    }
}

int normalAxis(int64_t axis, int rank) { return static_cast<int>(axis < 0 ? axis + rank : axis); }

// Element i of the result depends on element i of the operands, by the framework's broadcasting.
void pointwise(RuleContext& context) {
  for (const Clause& clause : context.clauses()) {
    mlir::Value frame = frameOf(context, clause);
    if (!frame) continue;
    llvm::SmallVector<int64_t> extents = frameExtents(context, clause, frame);
    auto labels = [&](mlir::Value value) {
      return alignedLabels(value, extents,
                           alignment(context, value, static_cast<int>(extents.size())));
    };
    Form form = formOf(context, clause, labels);
    addOthers(context, clause, labels, form);
    form.fold = Fold::Sum;
    form.flat = true;
    giveResults(context, clause, std::move(form), labels);
  }
}

// Whole along one axis (softmax, cumsum, sort), independent along all others.
void rowwise(RuleContext& context) {
  const pd::OpView& op = context.op();
  for (llvm::StringRef name : {"flatten", "asvector"})
    if (op.spec()->attribute(name) && op.getBool(name)) return wholeOnly(context);
  int64_t axis = -1;
  for (llvm::StringRef name : {"axis", "dim", "Axis"})
    if (op.spec()->attribute(name)) axis = op.getInt(name);
  for (const Clause& clause : context.clauses()) {
    mlir::Value frame = frameOf(context, clause);
    if (!frame) continue;
    const int rank = rankOf(frame), whole = normalAxis(axis, rank);
    auto labels = [&](mlir::Value value) {
      const bool lacks = rankOf(value) == rank - 1;
      Labels own;
      for (int i = 0, n = rankOf(value) + lacks; i < n; ++i)
        if (i != whole) own.push_back(i);
        else if (!lacks) own.push_back(kWholeDim);
      own.resize(rankOf(value), kWholeDim);
      return own;
    };
    Form form = formOf(context, clause, labels);
    addOthers(context, clause, labels, form);
    giveResults(context, clause, std::move(form), labels);
  }
}

// Dims are named in the row, as in an einsum: "X[mk], Y[kn] -> Out[mn]". A label that the result
// lacks is summed over.
void labelled(RuleContext& context) {
  const pd::OpView& op = context.op();
  for (const Clause& clause : context.clauses()) {
    std::map<int, int64_t> extents;  // of each label, where it is not 1
    auto meet = [&](mlir::Value value, llvm::StringRef pattern) {
      if (!value) return;
      for (auto [label, extent] : llvm::zip(patternLabels(value, pattern), dimsOf(value)))
        if (extent != 1) extents[label] = extent;
    };
    for (const SlotUse& input : clause.inputs)
      for (mlir::Value value : op.inputs(input.slot)) meet(value, input.labels);
    for (const SlotResult& output : clause.outputs)
      for (mlir::Value value : op.outputs(output.slot)) meet(value, output.labels);
    auto labelsOf = [&](mlir::Value value, llvm::StringRef pattern) {
      Labels own = patternLabels(value, pattern);
      for (auto [label, extent] : llvm::zip(own, dimsOf(value)))
        if (extent == 1 && label >= 0 && extents.count(label)) label = kBroadcastDim;
      return own;
    };
    Form form;
    if (clause.sum) form.combine = Combine::Sum;
    form.fold = Fold::Sum;
    for (const SlotUse& input : clause.inputs)
      for (mlir::Value value : op.inputs(input.slot))
        if (value) form.terms.push_back({value, labelsOf(value, input.labels), input.use});
    for (const SlotResult& output : clause.outputs)
      for (unsigned i = 0, n = op.outputCount(output.slot); i < n; ++i)
        if (mlir::Value value = op.output(output.slot, i)) {
          form.result = labelsOf(value, output.labels);
          context.result(output.slot, i, form);
        }
  }
}

void giveBatchwise(RuleContext& context, llvm::ArrayRef<Clause> clauses) {
  for (const Clause& clause : clauses)
    giveResults(context, clause, formOf(context, clause, batchLabels), batchLabels);
}

void giveWhole(RuleContext& context, llvm::ArrayRef<Clause> clauses) {
  for (const Clause& clause : clauses)
    giveResults(context, clause, formOf(context, clause, wholeLabels), wholeLabels);
}

void batchwise(RuleContext& context) { giveBatchwise(context, context.clauses()); }

// Of the first clause the rows are independent (losses), of the others nothing is (weights).
void batchThenWhole(RuleContext& context) {
  llvm::ArrayRef<Clause> clauses = context.clauses();
  giveBatchwise(context, clauses.take_front());
  giveWhole(context, clauses.drop_front());
}

// The name of a kind for the page of rules.
const char* kindOf(Rule rule) {
  struct Kind {
    Rule rule;
    const char* name;
  };
  constexpr Kind kKinds[] = {{pointwise, "pointwise"},
                             {rowwise, "rowwise"},
                             {labelled, "labelled"},
                             {batchwise, "batchwise"},
                             {batchThenWhole, "batchwise, then whole operands only"},
                             {wholeOnly, "whole operands only"}};
  for (const Kind& kind : kKinds)
    if (kind.rule == rule) return kind.name;
  return "own";
}

void wholeOnly(RuleContext& context) { giveWhole(context, context.clauses()); }

}  // namespace dtranspile::verify
