#include "compiler/analysis/relations/kinds.h"

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

// Extents that the clause's tensors have together: per dim of the frame the one that is not 1.
llvm::SmallVector<int64_t> frameExtents(RuleContext& context, const Clause& clause,
                                        mlir::Value frame) {
  llvm::SmallVector<int64_t> extents = dimsOf(frame);
  auto widen = [&](mlir::Value value) {
    if (!value || rankOf(value) != static_cast<int>(extents.size())) return;
    for (auto [mine, other] : llvm::zip(extents, dimsOf(value)))
      if (mine == 1) mine = other;
  };
  for (const SlotUse& input : clause.inputs)
    for (mlir::Value value : context.op().inputs(input.slot)) widen(value);
  return extents;
}

// Dim of the frame at which an operand of lower rank begins.
int alignment(RuleContext& context, mlir::Value value, int frameRank) {
  int rank = rankOf(value);
  int64_t axis = -1;
  if (context.op().type().starts_with("elementwise_") && context.op().hasAttr("axis"))
    axis = context.op().getInt("axis");
  return axis < 0 || rank == frameRank ? frameRank - rank
                                       : static_cast<int>(std::min<int64_t>(axis, frameRank - 1));
}

void pointwiseWith(RuleContext& context, Combine combine) {
  for (const Clause& clause : context.clauses()) {
    mlir::Value frame = frameOf(context, clause);
    if (!frame) continue;
    llvm::SmallVector<int64_t> extents = frameExtents(context, clause, frame);
    auto labels = [&](mlir::Value value) {
      return alignedLabels(value, extents,
                           alignment(context, value, static_cast<int>(extents.size())));
    };
    Form form = formOf(context, clause, labels);
    form.combine = combine;
    form.fold = Fold::Sum;
    giveResults(context, clause, std::move(form), labels);
  }
}

}  // namespace

Labels alignedLabels(mlir::Value value, llvm::ArrayRef<int64_t> frame, int at) {
  Labels labels;
  for (auto [i, extent] : llvm::enumerate(dimsOf(value))) {
    int dim = at + static_cast<int>(i);
    bool inside = dim >= 0 && dim < static_cast<int>(frame.size());
    labels.push_back(!inside || (extent == 1 && frame[dim] != 1) ? kBroadcastDim : dim);
  }
  return labels;
}

Labels batchLabels(mlir::Value value) {
  Labels labels(rankOf(value), kWholeDim);
  if (!labels.empty()) labels[0] = 0;
  return labels;
}

Labels wholeLabels(mlir::Value value) { return Labels(rankOf(value), kWholeDim); }

Form formOf(RuleContext& context, const Clause& clause,
            llvm::function_ref<Labels(mlir::Value)> labels) {
  Form form;
  for (const SlotUse& input : clause.inputs)
    for (mlir::Value value : context.op().inputs(input.slot))
      if (value)
        form.terms.push_back(
            {value, input.parameter ? wholeLabels(value) : labels(value), input.use});
  return form;
}

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

void pointwise(RuleContext& context) { pointwiseWith(context, Combine::Product); }
void pointwiseSum(RuleContext& context) { pointwiseWith(context, Combine::Sum); }

void rowwise(RuleContext& context) {
  for (const Clause& clause : context.clauses()) {
    mlir::Value frame = frameOf(context, clause);
    if (!frame) continue;
    int rank = rankOf(frame);
    int64_t axis = -1;
    for (llvm::StringRef name : {"axis", "dim"})
      if (context.op().hasAttr(name)) axis = context.op().getInt(name);
    int whole = normalAxis(axis, rank);
    auto labels = [&](mlir::Value value) {
      Labels own = ownLabels(value);
      if (whole >= 0 && whole < static_cast<int>(own.size())) own[whole] = kWholeDim;
      return own;
    };
    giveResults(context, clause, formOf(context, clause, labels), labels);
  }
}

void giveBatchwise(RuleContext& context, llvm::ArrayRef<Clause> clauses, Combine combine) {
  for (const Clause& clause : clauses) {
    Form form = formOf(context, clause, batchLabels);
    form.combine = combine;
    giveResults(context, clause, std::move(form), batchLabels);
  }
}

void giveWhole(RuleContext& context, llvm::ArrayRef<Clause> clauses) {
  for (const Clause& clause : clauses)
    giveResults(context, clause, formOf(context, clause, wholeLabels), wholeLabels);
}

void batchwise(RuleContext& context) {
  giveBatchwise(context, context.clauses(), Combine::Product);
}

void batchwiseSum(RuleContext& context) { giveBatchwise(context, context.clauses(), Combine::Sum); }

void batchThenWhole(RuleContext& context) {
  llvm::ArrayRef<Clause> clauses = context.clauses();
  giveBatchwise(context, clauses.take_front());
  giveWhole(context, clauses.drop_front());
}

const char* kindOf(Rule rule) {
  struct Kind {
    Rule rule;
    const char* name;
  };
  constexpr Kind kKinds[] = {{pointwise, "pointwise"},
                             {pointwiseSum, "pointwise sum"},
                             {rowwise, "rowwise"},
                             {batchwise, "batchwise"},
                             {batchwiseSum, "batchwise sum"},
                             {batchThenWhole, "batchwise, then whole operands only"},
                             {wholeOnly, "whole operands only"}};
  for (const Kind& kind : kKinds)
    if (kind.rule == rule) return kind.name;
  return "own";
}

void wholeOnly(RuleContext& context) { giveWhole(context, context.clauses()); }

bool isRagged(mlir::Value value) {
  return llvm::isa<pd::LodType>(dist::unlocated(value.getType()));
}

}  // namespace dtranspile::verify
