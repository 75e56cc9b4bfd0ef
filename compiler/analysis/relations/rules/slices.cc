// Relation rules: family `indexing`, second part: slices, and what is written into them. Dims that
// are cut must be whole. Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/numbers.h"
#include "compiler/analysis/relations/rules/families.h"
#include "llvm/ADT/STLExtras.h"

namespace dtranspile::verify {
namespace {

// From its first position to its last: an end as far out as programs write for "all".
bool takesAll(const Numbers& starts, const Numbers& ends, const std::vector<int64_t>& strides,
              size_t i) {
  constexpr int64_t kFarOut = 1 << 28;
  return i < starts.size() && i < ends.size() && starts[i].isKnown() && starts[i].value == 0 &&
         ends[i].isKnown() && ends[i].value >= kFarOut && (i >= strides.size() || strides[i] == 1);
}

// Dims that are cut must be whole.
Labels slicedLabels(const pd::OpView& op, mlir::Value whole) {
  Labels labels = ownLabels(whole);
  const Numbers starts =
      numbersOf(op, {"StartsTensorList", "StartsTensor", "starts"}).value_or(Numbers());
  const Numbers ends = numbersOf(op, {"EndsTensorList", "EndsTensor", "ends"}).value_or(Numbers());
  std::vector<int64_t> strides;
  for (llvm::StringRef steps : {"strides", "steps"})
    if (op.spec()->attribute(steps)) strides = op.getInts(steps);
  if (op.inputCount("StridesTensor") || op.inputCount("StridesTensorList") ||
      op.inputCount("StepsTensorList"))
    strides = {0};
  for (auto [i, axis] : llvm::enumerate(op.getInts("axes"))) {
    const int at = normalAxis(axis, static_cast<int>(labels.size()));
    if (at >= 0 && at < static_cast<int>(labels.size()) && !takesAll(starts, ends, strides, i))
      labels[at] = kWholeDim;
  }
  return labels;
}

// `decrease_axis` removes dims from the result.
Labels withoutDecreased(const pd::OpView& op, llvm::StringRef attribute, const Labels& labels,
                        mlir::Value small) {
  llvm::SmallVector<int, 6> decreased;
  for (int64_t axis : op.getInts(attribute))
    decreased.push_back(normalAxis(axis, static_cast<int>(labels.size())));
  Labels left;
  for (int i = 0, n = static_cast<int>(labels.size()); i < n; ++i)
    if (!llvm::is_contained(decreased, i)) left.push_back(labels[i]);
  left.resize(rankOf(small), kBroadcastDim);
  return left;
}

// Bounds that are given by tensors: what these hold is read.
void addBounds(const pd::OpView& op, Form& form) {
  for (llvm::StringRef slot : {"StartsTensor", "EndsTensor", "StridesTensor", "StartsTensorList",
                               "EndsTensorList", "StridesTensorList", "StepsTensorList"})
    for (mlir::Value bound : op.inputs(slot))
      if (bound && !numbersOf(bound)) {
        form.terms.push_back({bound, wholeLabels(bound), Use::Value});
        form.shareable = false;
      }
}

// An extent of a tensor that no rank has a part of is the same number on all of them.
bool giveExtent(RuleContext& context) {
  mlir::Value out = context.op().output("Out");
  std::optional<Numbers> numbers = out ? numbersOf(out) : std::nullopt;
  if (!numbers || numbers->empty()) return false;
  for (const Number& number : *numbers)
    if (number.isExtent() && isSplitAlong(context, number.tensor, number.dim)) return false;
  Form constant;
  constant.result = wholeLabels(out);
  context.result("Out", constant);
  return true;
}

void slice(RuleContext& context) {
  const pd::OpView& op = context.op();
  mlir::Value x = op.input("Input"), out = op.output("Out");
  if (!x || !out || giveExtent(context)) return;
  Form form;
  form.terms.push_back({x, slicedLabels(op, x), Use::Linear});
  form.result = withoutDecreased(op, "decrease_axis", form.terms[0].labels, out);
  addBounds(op, form);
  context.result("Out", form);
}

void sliceGrad(RuleContext& context) {
  const pd::OpView& op = context.op();
  mlir::Value x = op.input("Input"), gradient = op.input("Out@GRAD");
  if (!x || !gradient) return;
  Labels labels = slicedLabels(op, x);
  Form form;
  form.terms.push_back(
      {gradient, withoutDecreased(op, "decrease_axis", labels, gradient), Use::Linear});
  form.terms.push_back({x, labels, Use::Shape});
  form.result = labels;
  addBounds(op, form);
  context.result("Input@GRAD", form);
}

// The labels of the value that is written, which is broadcast to the region; that has no dims that
// `decrease_axes` names.
Labels writtenLabels(const pd::OpView& op, const Labels& whole, mlir::Value value) {
  if (!op.getInts("none_axes").empty()) return wholeLabels(value);
  const int rank = static_cast<int>(whole.size());
  llvm::SmallVector<int, 6> decreased;
  for (int64_t axis : op.getInts("decrease_axes")) decreased.push_back(normalAxis(axis, rank));
  Labels region;
  for (int d = 0; d < rank; ++d)
    if (!llvm::is_contained(decreased, d)) region.push_back(whole[d]);
  const int lead = static_cast<int>(region.size()) - rankOf(value);
  Labels labels;
  for (auto [i, extent] : llvm::enumerate(dimsOf(value))) {
    const int at = lead + static_cast<int>(i);
    labels.push_back(extent == 1 || at < 0 ? kBroadcastDim : region[at]);
  }
  return labels;
}

// Input where the region is not, the value in it.
void setValue(RuleContext& context) {
  const pd::OpView& op = context.op();
  mlir::Value x = op.input("Input"), value = op.input("ValueTensor");
  if (!x) return;
  const bool zeros =
      !value && llvm::all_of(op.getFloats("values"), [](double one) { return one == 0; });
  Form form;
  if (value || zeros) form.combine = Combine::Sum;
  form.terms.push_back({x, slicedLabels(op, x), value || zeros ? Use::Linear : Use::Value});
  form.result = form.terms[0].labels;
  if (value) form.terms.push_back({value, writtenLabels(op, form.result, value), Use::Linear});
  addBounds(op, form);
  context.result("Out", form);
}

// The gradient of Input is that of Out with the written range zeroed; that of the value is the
// range, summed over the dims along which the value was repeated.
void setValueGrad(RuleContext& context) {
  const pd::OpView& op = context.op();
  mlir::Value gradient = op.input("Out@GRAD"), value = op.input("ValueTensor");
  if (!gradient) return;
  Form form;
  form.terms.push_back({gradient, slicedLabels(op, gradient), Use::Linear});
  addBounds(op, form);
  form.result = form.terms[0].labels;
  context.result("Input@GRAD", form);
  if (!value) return;
  form.terms.push_back({value, writtenLabels(op, form.result, value), Use::Shape});
  form.result = form.terms.back().labels;
  form.fold = Fold::Sum;
  context.result("ValueTensor@GRAD", form);
}

#define DT_SLICE_BOUNDS "StartsTensor, EndsTensor, StartsTensorList, EndsTensorList"
#define DT_SLICE_ATTRIBUTES "axes, starts, ends, infer_flags, decrease_axis"
#define DT_STRIDES "StridesTensor, StridesTensorList, strides"
#define DT_SET_VALUE                                                                            \
  "StartsTensorList, EndsTensorList, StepsTensorList, ValueTensor, axes, starts, ends, steps, " \
  "dtype, decrease_axes, none_axes, values, shape"

const RuleRow kRows[] = {
    {"slice", slice, "", "Input, " DT_SLICE_BOUNDS ", " DT_SLICE_ATTRIBUTES},
    {"slice_grad", sliceGrad, "", "Input, Out@GRAD, " DT_SLICE_BOUNDS ", " DT_SLICE_ATTRIBUTES},
    {"strided_slice", slice, "",
     "Input, " DT_SLICE_BOUNDS ", " DT_STRIDES ", " DT_SLICE_ATTRIBUTES},
    {"strided_slice_grad", sliceGrad, "",
     "Input, Out@GRAD, " DT_SLICE_BOUNDS ", " DT_STRIDES ", " DT_SLICE_ATTRIBUTES},
    {"set_value", setValue, "", "Input, " DT_SET_VALUE},
    {"set_value_grad", setValueGrad, "", "Out@GRAD, " DT_SET_VALUE},
};

}  // namespace

llvm::ArrayRef<RuleRow> sliceRules() { return kRows; }

}  // namespace dtranspile::verify
