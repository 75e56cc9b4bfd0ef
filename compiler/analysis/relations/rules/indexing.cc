// Relation rules: family `indexing`: rows by index; slices stand in slices.cc. Positions along a
// dim are those of the whole: it must be whole, and what a share would give has no meaning unless
// the indices were made from the share. Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/numbers.h"
#include "compiler/analysis/relations/rules/families.h"
#include "llvm/ADT/STLExtras.h"

namespace dtranspile::verify {
namespace {

constexpr int kIndex = 100;  // labels of the dims of an index, in frames of their own

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
// The axis of X is replaced by the dims of the index (a number as index drops it).
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

// Linear in X, which must be whole along the axis; cut along other dims the result is cut there
// too.
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
  // Along another axis than the first the framework's kernel gives every position before it the
  // gradient of the first one (docs/operators/defects.md): those dims must be whole, and on a rank
  // the first one is that of its share.
  bool coupled = false;
  if (op.type() == "gather_grad")
    for (int dim = 0; dim < static_cast<int>(labels->x.size()) && labels->x[dim] != kWholeDim;
         ++dim)
      if (llvm::is_contained(llvm::ArrayRef(labels->x).drop_front(dim), kWholeDim))
        labels->x[dim] = labels->out[dim] = kWholeDim, coupled = true;
  Form form;
  form.terms.push_back({op.input("Out@GRAD"), labels->out, Use::Linear});
  form.terms.push_back({op.input("Index"), labels->index, Use::Value});
  form.terms.push_back({op.input("X"), labels->x, Use::Shape});
  form.result = labels->x;
  form.fold = writes ? Fold::None : Fold::Sum;
  form.shareable = coupled || indexOfShare(context, op.input("Index"));
  context.result("X@GRAD", form);
}

// Index [i…, k] into the first k dims of X: those must be whole, and so must the k numbers.
struct NdLabels {
  Labels x, index, rows;
};
// Labels of gather_nd and its relatives: the last dim of `index`, of extent d, holds positions in
// the first d dims of X, which must therefore be whole; all other dims of `index` come first in the
// rows, and the remaining dims of X behind them.
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
  mlir::Value updates = back ? op.input("Updates") : mlir::Value();
  std::optional<NdLabels> labels = ndLabels(x, index, updates ? updates : out);
  if (!labels) return;
  Form form;
  if (updates) form.terms.push_back({updates, labels->rows, Use::Shape});
  if (back) {
    Form same = form;
    same.terms.push_back({x, labels->x, Use::Linear});
    same.terms.push_back({index, labels->index, Use::Shape});
    same.result = labels->x;
    context.result("X@GRAD", same);
  }
  form.terms.push_back({x, labels->x, Use::Linear});
  form.terms.push_back({index, labels->index, Use::Value});
  form.result = labels->rows;
  form.shareable = indexOfShare(context, index);
  context.result(back ? "Updates@GRAD" : "Out", form);
}

// The transpose of the gather: rows of the gradient are added at the positions of their indices, so
// that the dims of the index are summed over and X gives its extents alone.
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

// Rows of X are replaced (or added to) by updates at the ids. Linear in X and in the updates
// together; other dims than the rows go through.
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

// The gradient of X is that of the result with the replaced rows zeroed, that of the updates the
// rows at the ids: one label for each id.
void scatterGrad(RuleContext& context) {
  const pd::OpView& op = context.op();
  mlir::Value gradient = op.input("Out@GRAD"), ids = op.input("Ids"), updates = op.input("Updates");
  if (!gradient || !ids || !updates || rankOf(gradient) != rankOf(updates)) return;
  Form form;
  form.terms.push_back({gradient, besideRows(gradient), Use::Linear});
  form.terms.push_back({ids, wholeLabels(ids), Use::Value});
  form.terms.push_back({updates, besideRows(updates), Use::Shape});
  form.result = besideRows(gradient);
  form.shareable = false;
  context.result("X@GRAD", form);
  form.terms.pop_back();
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

// X with Y on the diagonals of two dims, which must be whole; linear in both together.
void fillDiagonals(RuleContext& context) {
  const pd::OpView& op = context.op();
  const bool back = op.spec()->gradient;
  mlir::Value x = op.input(back ? "Out@GRAD" : "X"), y = back ? mlir::Value() : op.input("Y");
  if (!x || (!back && (!y || rankOf(y) != rankOf(x) - 1))) return;
  const int rank = rankOf(x), first = normalAxis(op.getInt("dim1"), rank),
            second = normalAxis(op.getInt("dim2"), rank);
  Labels large = ownLabels(x), small;
  for (int i = 0; i < rank; ++i)
    if (i == first || i == second) large[i] = kWholeDim;
    else small.push_back(i);
  small.push_back(kWholeDim);
  Form form;
  form.combine = back ? Combine::Product : Combine::Sum;
  form.terms.push_back({x, large, Use::Linear});
  if (y) form.terms.push_back({y, small, Use::Linear});
  form.result = large;
  context.result(back ? "X@GRAD" : "Out", form);
}

// Values at places of the whole: linear in x and them together, and so are the gradients in that of
// the result.
void indexPut(RuleContext& context) {
  const pd::OpView& op = context.op();
  const bool back = op.type() == "index_put_grad";
  mlir::Value x = op.input("x"), value = op.input("value"), gradient = op.input("out@GRAD");
  if (!x || !value || (back && !gradient)) return;
  Form form;
  form.combine = back ? Combine::Product : Combine::Sum;
  form.shareable = false;
  if (back) form.terms.push_back({gradient, wholeLabels(gradient), Use::Linear});
  for (mlir::Value one : {x, value})
    form.terms.push_back({one, wholeLabels(one), back ? Use::Shape : Use::Linear});
  for (mlir::Value index : op.inputs("indices"))
    form.terms.push_back({index, wholeLabels(index), Use::Value});
  form.result = wholeLabels(x);
  context.result(back ? "x@GRAD" : "out", form);
  form.result = wholeLabels(value);
  if (back) context.result("value@GRAD", form);
}

// X with values added at positions along the axis, which are those of the whole.
void indexAdd(RuleContext& context) {
  const pd::OpView& op = context.op();
  const bool back = op.type() == "index_add_grad";
  mlir::Value x = op.input(back ? "Out@GRAD" : "X"), index = op.input("Index"),
              value = op.input("AddValue");
  if (!x || !index || !value || rankOf(x) != rankOf(value)) return;
  const int at = normalAxis(op.getInt("axis"), rankOf(x));
  if (at < 0 || at >= rankOf(x)) return;
  Labels labels = ownLabels(x);
  labels[at] = kWholeDim;
  Form form;
  form.terms.push_back({x, labels, Use::Linear});
  form.result = labels;
  form.shareable = indexOfShare(context, index);
  if (back) context.result("X@GRAD", form);
  form.terms.push_back({value, labels, back ? Use::Shape : Use::Linear});
  form.terms.push_back({index, wholeLabels(index), Use::Value});
  if (!back) form.combine = Combine::Sum;
  context.result(back ? "AddValue@GRAD" : "Out", form);
}

// Rows along edges between rows of the whole; the other dims go along. Sums and means are linear.
void sendReceive(RuleContext& context) {
  const pd::OpView& op = context.op();
  const bool back = op.type() == "graph_send_recv_grad";
  mlir::Value x = op.input("X"), source = op.input("Src_index"), target = op.input("Dst_index"),
              gradient = op.input("Out@GRAD");
  if (!x || !source || !target || (back && !gradient)) return;
  const std::string pool = op.getString("reduce_op");
  const bool linear = pool == "SUM" || pool == "MEAN";
  Form form;
  if (back) form.terms.push_back({gradient, besideRows(gradient), Use::Linear});
  form.terms.push_back({x, besideRows(x), !linear ? Use::Value : back ? Use::Shape : Use::Linear});
  if (mlir::Value out = op.input("Out"); back && out && !linear)
    form.terms.push_back({out, besideRows(out), Use::Value});
  for (mlir::Value index : {source, target, op.input("Out_size")})
    if (index) form.terms.push_back({index, wholeLabels(index), Use::Value});
  form.result = besideRows(x);
  form.shareable = indexOfShare(context, source) && indexOfShare(context, target);
  context.result(back ? "X@GRAD" : "Out", form);
  if (back) return;
  mlir::Value counts = op.output("Dst_count");
  if (!counts) return;
  form.terms.erase(form.terms.begin());
  form.result = wholeLabels(counts);
  context.result("Dst_count", form);
}

// The rows of the whole, by ids that number all segments: a share has others only where the ids
// were made from it.
void segments(RuleContext& context) {
  mlir::Value ids = context.op().input("SegmentIds");
  if (!ids) return;
  for (const Clause& clause : context.clauses()) {
    Form form = formOf(context, clause, wholeLabels);
    form.shareable = indexOfShare(context, ids);
    giveResults(context, clause, std::move(form), wholeLabels);
  }
}

// Rows are those of the whole: an edge may join any two of them.
void messages(RuleContext& context) {
  const bool both = context.op().type().starts_with("graph_send_uv");
  mlir::Value source = context.op().input(both ? "src_index" : "Src_index"),
              target = context.op().input(both ? "dst_index" : "Dst_index");
  if (!source || !target) return;
  for (const Clause& clause : context.clauses()) {
    Form form = formOf(context, clause, wholeLabels);
    form.shareable = indexOfShare(context, source) && indexOfShare(context, target);
    giveResults(context, clause, form, wholeLabels);
  }
}

const RuleRow kRows[] = {
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
    {"index_add", indexAdd, "", "X, Index, AddValue, axis"},
    {"index_add_grad", indexAdd, "", "Index, AddValue, Out@GRAD, axis"},
    {"segment_pool", segments, "X, SegmentIds -> Out; SegmentIds -> SummedIds", "pooltype"},
    {"segment_pool_grad", segments, "Out@GRAD:l, X, SegmentIds, Out, SummedIds -> X@GRAD",
     "pooltype"},
    {"graph_send_recv", sendReceive, "", "X, Src_index, Dst_index, Out_size, reduce_op, out_size"},
    {"graph_send_recv_grad", sendReceive, "",
     "X, Src_index, Dst_index, Out, Dst_count, Out@GRAD, reduce_op, out_size"},
    {"graph_send_ue_recv", messages, "X, Y, Src_index, Dst_index, Out_size -> Out, Dst_count",
     "message_op, reduce_op, out_size"},
    {"graph_send_ue_recv_grad", messages,
     "Out@GRAD:l, X, Y, Src_index, Dst_index, Out, Dst_count -> X@GRAD, Y@GRAD",
     "message_op, reduce_op, out_size"},
    {"graph_send_uv", messages, "x, y, src_index, dst_index -> out", "message_op"},
    {"graph_send_uv_grad", messages, "out@GRAD:l, x, y, src_index, dst_index -> x@GRAD, y@GRAD",
     "message_op"},
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
    {"diag_v2_grad", wholeOnly, "Out@GRAD:l, X:s -> X@GRAD", "offset, padding_value"},
    {"fill_diagonal", wholeOnly, "X -> Out", "value, offset, wrap"},
    {"fill_diagonal_grad", wholeOnly, "Out@GRAD:l -> X@GRAD", "value, offset, wrap"},
    {"fill_diagonal_tensor", fillDiagonals, "", "X, Y, offset, dim1, dim2"},
    {"fill_diagonal_tensor_grad", fillDiagonals, "", "Out@GRAD, offset, dim1, dim2"},
    {"index_put", indexPut, "", "x, indices, value, accumulate"},
    {"index_put_grad", indexPut, "", "x, indices, value, out@GRAD, accumulate"},
    {"diag_embed", diagEmbed, "", "Input, offset, dim1, dim2"},
};

}  // namespace

llvm::ArrayRef<RuleRow> indexingRules() { return kRows; }

}  // namespace dtranspile::verify
