// Relation rules: family `indexing`. Positions along a dim are those of the whole: it must be
// whole, and what a share would give has no meaning unless the indices were made from the share.
// Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/numbers.h"
#include "compiler/analysis/relations/rules/families.h"
#include "llvm/ADT/STLExtras.h"

namespace dtranspile::verify {
namespace {

constexpr int kIndex = 100;  // labels of the dims of an index, in frames of their own

// ---- slices: Input[starts : ends : strides]

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
  if (op.spec()->attribute("strides")) strides = op.getInts("strides");
  if (op.inputCount("StridesTensor") || op.inputCount("StridesTensorList")) strides = {0};
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

// The labels of the value that is written, which is broadcast to the region.
Labels writtenLabels(const pd::OpView& op, const Labels& region, mlir::Value value) {
  if (!op.getInts("decrease_axes").empty() || !op.getInts("none_axes").empty())
    return wholeLabels(value);
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
  form.combine = Combine::Sum;
  form.terms.push_back({x, slicedLabels(op, x), value || zeros ? Use::Linear : Use::Value});
  form.result = form.terms[0].labels;
  if (value) form.terms.push_back({value, writtenLabels(op, form.result, value), Use::Linear});
  addBounds(op, form);
  context.result("Out", form);
}

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

// ---- rows by index

// Indices that follow from what a rank has of the batch point into that.
bool indexOfShare(RuleContext& context, mlir::Value index) {
  return context.relation(index).perShare;
}

std::optional<int> axisOf(const pd::OpView& op, mlir::Value x) {
  llvm::StringRef name = op.spec()->attribute("dim") ? "dim" : "axis";
  std::optional<llvm::SmallVector<int64_t>> axis = knownNumbers(op, {"", "Axis", name.data()});
  if (!axis || axis->size() != 1) return std::nullopt;
  const int at = normalAxis(axis->front(), rankOf(x));
  return at >= 0 && at < rankOf(x) ? std::optional<int>(at) : std::nullopt;
}

// x without the axis, and with the index in its place. [k, 1] is an index of k rows.
struct GatherLabels {
  Labels x, index, out;
};
std::optional<GatherLabels> gatherLabels(const pd::OpView& op, mlir::Value out) {
  mlir::Value x = op.input("X"), index = op.input("Index");
  std::optional<int> axis = x && index && out ? axisOf(op, x) : std::nullopt;
  if (!axis) return std::nullopt;
  GatherLabels labels{ownLabels(x), wholeLabels(index), ownLabels(x)};
  labels.x[*axis] = kWholeDim;
  if (labels.index.empty()) labels.out.erase(labels.out.begin() + *axis);
  else labels.index[0] = labels.out[*axis] = kIndex;
  if (static_cast<int>(labels.out.size()) != rankOf(out)) return std::nullopt;
  return labels;
}

void loseAxis(RuleContext& context, llvm::StringRef slot) {
  context.lose(slot, 0, "takes its axis, or has extents, that are not known while compiling");
}

void gather(RuleContext& context) {
  const pd::OpView& op = context.op();
  std::optional<GatherLabels> labels = gatherLabels(op, op.output("Out"));
  if (!labels) return loseAxis(context, "Out");
  Form form;
  form.terms.push_back({op.input("X"), labels->x, Use::Linear});
  form.terms.push_back({op.input("Index"), labels->index, Use::Value});
  form.result = labels->out;
  form.shareable = indexOfShare(context, op.input("Index"));
  context.result("Out", form);
}

// Sums over indices. Programs of 1.x write where they are told to: the last of equal indices
// counts.
void gatherGrad(RuleContext& context) {
  const pd::OpView& op = context.op();
  std::optional<GatherLabels> labels = gatherLabels(op, op.input("Out@GRAD"));
  if (!labels) return loseAxis(context, "X@GRAD");
  const bool writes = op.spec()->attribute("overwrite") && op.getBool("overwrite") &&
                      programVersion(op.operation()) < 2000000;
  Form form;
  form.terms.push_back({op.input("Out@GRAD"), labels->out, Use::Linear});
  form.terms.push_back({op.input("Index"), labels->index, Use::Value});
  form.terms.push_back({op.input("X"), labels->x, Use::Shape});
  form.result = labels->x;
  form.fold = writes ? Fold::None : Fold::Sum;
  form.shareable = indexOfShare(context, op.input("Index"));
  context.result("X@GRAD", form);
}

// Index [i…, k] into the first k dims of X: those must be whole, and so must the k numbers.
struct NdLabels {
  Labels x, index, rows;
};
std::optional<NdLabels> ndLabels(mlir::Value x, mlir::Value index, mlir::Value rows) {
  if (!x || !index || !rows || rankOf(index) == 0) return std::nullopt;
  const int64_t depth = dimsOf(index).back();
  if (depth < 0 || depth > rankOf(x)) return std::nullopt;
  NdLabels labels{ownLabels(x), wholeLabels(index), {}};
  for (int i = 0; i < rankOf(index) - 1; ++i) labels.index[i] = kIndex + i;
  labels.rows.assign(labels.index.begin(), labels.index.end() - 1);
  labels.rows.append(labels.x.begin() + depth, labels.x.end());
  std::fill_n(labels.x.begin(), depth, kWholeDim);
  if (static_cast<int>(labels.rows.size()) != rankOf(rows)) return std::nullopt;
  return labels;
}

// `rows` of `x` that the index names, from one slot to another, in either direction.
void gatherNd(RuleContext& context) {
  const pd::OpView& op = context.op();
  const bool back = op.type() == "scatter_nd_add_grad";
  mlir::Value x = op.input(back ? "Out@GRAD" : "X"), index = op.input("Index"),
              out = op.output(back ? "Updates@GRAD" : "Out");
  if (back && x) {
    Form same;
    same.terms.push_back({x, ownLabels(x), Use::Linear});
    same.result = ownLabels(x);
    context.result("X@GRAD", same);
  }
  std::optional<NdLabels> labels = ndLabels(x, index, out);
  if (!labels) return;
  Form form;
  form.terms.push_back({x, labels->x, Use::Linear});
  form.terms.push_back({index, labels->index, Use::Value});
  form.result = labels->rows;
  form.shareable = indexOfShare(context, index);
  context.result(back ? "Updates@GRAD" : "Out", form);
}

void gatherNdGrad(RuleContext& context) {
  const pd::OpView& op = context.op();
  mlir::Value x = op.input("X"), index = op.input("Index"), gradient = op.input("Out@GRAD");
  std::optional<NdLabels> labels = ndLabels(x, index, gradient);
  if (!labels) return;
  Form form;
  form.terms.push_back({gradient, labels->rows, Use::Linear});
  form.terms.push_back({index, labels->index, Use::Value});
  form.terms.push_back({x, labels->x, Use::Shape});
  form.result = labels->x;
  form.fold = Fold::Sum;
  form.shareable = indexOfShare(context, index);
  context.result("X@GRAD", form);
}

// X with the updates in, or added to, the rows that are named: linear in both together where these
// are whole.
void scatterNdAdd(RuleContext& context) {
  const pd::OpView& op = context.op();
  mlir::Value x = op.input("X"), index = op.input("Index"), updates = op.input("Updates");
  std::optional<NdLabels> labels = ndLabels(x, index, updates);
  if (!labels) return;
  for (Labels* own : {&labels->index, &labels->rows})
    for (int& label : *own)
      if (label >= kIndex) label = kWholeDim;
  Form form;
  form.combine = Combine::Sum;
  form.terms.push_back({x, labels->x, Use::Linear});
  form.terms.push_back({updates, labels->rows, Use::Linear});
  form.terms.push_back({index, labels->index, Use::Value});
  form.result = labels->x;
  form.shareable = false;
  context.result("Out", form);
}

// Row dims whole, all others as they are.
Labels besideRows(mlir::Value value) {
  Labels labels = ownLabels(value);
  if (!labels.empty()) labels[0] = kWholeDim;
  return labels;
}

void scatter(RuleContext& context) {
  const pd::OpView& op = context.op();
  mlir::Value x = op.input("X"), ids = op.input("Ids"), updates = op.input("Updates");
  if (!x || !ids || !updates || rankOf(x) != rankOf(updates)) return;
  Form form;
  form.combine = Combine::Sum;
  form.terms.push_back({x, besideRows(x), Use::Linear});
  form.terms.push_back({updates, besideRows(updates), Use::Linear});
  form.terms.push_back({ids, wholeLabels(ids), Use::Value});
  form.result = besideRows(x);
  form.shareable = false;
  context.result("Out", form);
}

void scatterGrad(RuleContext& context) {
  const pd::OpView& op = context.op();
  mlir::Value gradient = op.input("Out@GRAD"), ids = op.input("Ids"), updates = op.input("Updates");
  if (!gradient || !ids || !updates || rankOf(gradient) != rankOf(updates)) return;
  Form form;
  form.terms.push_back({gradient, besideRows(gradient), Use::Linear});
  form.terms.push_back({ids, wholeLabels(ids), Use::Value});
  form.result = besideRows(gradient);
  form.shareable = false;
  context.result("X@GRAD", form);
  // A row of the gradient for each id.
  form.result = ownLabels(updates);
  if (!form.result.empty() && !form.terms[1].labels.empty())
    form.result[0] = form.terms[1].labels[0] = kIndex;
  form.terms.push_back({updates, form.result, Use::Shape});
  context.result("Updates@GRAD", form);
}

// How many rows are left depends on the data of a part.
void maskedSelect(RuleContext& context) {
  mlir::Value x = context.op().input("X"), mask = context.op().input("Mask"),
              out = context.op().output("Y");
  if (!x || !mask || !out) return;
  Form form;
  form.terms.push_back({x, batchLabels(x), Use::Linear});
  form.terms.push_back({mask, batchLabels(mask), Use::Value});
  form.result = batchLabels(out);
  form.rows = Rows::Data;
  context.result("Y", form);
}

// The last dim of the input is laid along two new ones.
void diagEmbed(RuleContext& context) {
  const pd::OpView& op = context.op();
  mlir::Value x = op.input("Input"), out = op.output("Out");
  if (!x || !out || rankOf(out) != rankOf(x) + 1) return;
  const int rank = rankOf(out), first = normalAxis(op.getInt("dim1"), rank),
            second = normalAxis(op.getInt("dim2"), rank);
  Form form;
  form.terms.push_back({x, ownLabels(x), Use::Linear});
  form.terms[0].labels.back() = kWholeDim;
  for (int i = 0, from = 0; i < rank; ++i)
    form.result.push_back(i == first || i == second ? kWholeDim : from++);
  context.result("Out", form);
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
    {"gather", gather, "", "X, Index, Axis, axis, overwrite"},
    {"gather_grad", gatherGrad, "", "X, Index, Out@GRAD, Axis, axis, overwrite"},
    {"gather_nd", gatherNd, "", "X, Index"},
    {"gather_nd_grad", gatherNdGrad, "", "X, Index, Out@GRAD"},
    // Steps, then the batch, then beams.
    {"gather_tree", labelled, "Ids[*b*], Parents[*b*] -> Out[*b*]"},
    {"scatter", scatter, "", "X, Ids, Updates, overwrite"},
    {"scatter_grad", scatterGrad, "", "Out@GRAD, Ids, Updates, overwrite"},
    {"scatter_nd_add", scatterNdAdd, "", "X, Index, Updates"},
    {"scatter_nd_add_grad", gatherNd, "", "Index, Out@GRAD, Updates"},
    {"index_select", gather, "", "X, Index, dim"},
    {"index_select_grad", gatherGrad, "", "X, Index, Out@GRAD, dim"},
    {"index_sample", batchwise, "X:l, Index -> Out"},
    {"index_sample_grad", batchwise, "Out@GRAD:l, Index, X:s -> X@GRAD"},
    {"take_along_axis", rowwise, "Input:l, Index -> Result", "Axis"},
    {"take_along_axis_grad", rowwise, "Result@GRAD:l, Index, Input:s -> Input@GRAD", "Axis"},
    {"put_along_axis", rowwise, "Input, Index, Value -> Result", "Axis, Reduce, Include_self"},
    {"put_along_axis_grad", rowwise,
     "Result@GRAD:l, Index, Input, Result, Value -> Input@GRAD, Value@GRAD",
     "Axis, Reduce, Include_self"},
    {"masked_select", maskedSelect, "", "X, Mask"},
    {"masked_select_grad", batchwise, "Y@GRAD:l, Mask, X:s -> X@GRAD"},
    {"multiplex", batchwise, "Ids, X:l => Out"},
    {"multiplex_grad", batchwise, "Ids, Out@GRAD:l, X:s -> X@GRAD"},
    {"shard_index", pointwise, "X -> Out", "index_num, nshards, shard_id, ignore_value"},
    {"tril_triu", labelled, "X[_**]:l -> Out[_**]", "diagonal, lower"},
    {"tril_triu_grad", labelled, "Out@GRAD[_**]:l -> X@GRAD[_**]", "diagonal, lower"},
    {"diag", wholeOnly, "Diagonal:l -> Out"},
    {"diag_v2", wholeOnly, "X -> Out", "offset, padding_value"},
    {"diag_embed", diagEmbed, "", "Input, offset, dim1, dim2"},
};

}  // namespace

llvm::ArrayRef<RuleRow> indexingRules() { return kRows; }

}  // namespace dtranspile::verify
