// Relation rules: family `shape`. Moves of elements; a split dim must stay the outermost of the
// dims that it is merged with. Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"
#include "llvm/ADT/STLExtras.h"

namespace dtranspile::verify {
namespace {

// Product of known extents, and how many are unknown.
struct Volume {
  int64_t known = 1;
  int unknown = 0;
  void add(int64_t extent) {
    if (extent < 0) ++unknown;
    else if (__builtin_mul_overflow(known, extent, &known)) known = -1;
  }
  bool operator==(const Volume& other) const {
    return known >= 0 && known == other.known && unknown == other.unknown;
  }
};

// The dims of both shapes, cut from the right into the smallest groups of equal volume; the
// outermost dims of a group correspond. A group on the left whose volumes cannot be compared (an
// unknown batch) corresponds as a whole.
void matchShapes(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to, Labels& fromLabels,
                 Labels& toLabels) {
  fromLabels.assign(from.size(), kWholeDim);
  toLabels.assign(to.size(), kWholeDim);
  int i = static_cast<int>(from.size()) - 1, j = static_cast<int>(to.size()) - 1;
  while (i >= 0 && j >= 0) {
    Volume a, b;
    int i0 = i, j0 = j;
    a.add(from[i0]);
    b.add(to[j0]);
    while (!(a == b) && (i0 > 0 || j0 > 0)) {
      bool widenFrom = j0 == 0 || (i0 > 0 && a.unknown <= b.unknown && a.known <= b.known);
      if (widenFrom) a.add(from[--i0]);
      else b.add(to[--j0]);
    }
    fromLabels[i0] = toLabels[j0] = i0;
    i = i0 - 1;
    j = j0 - 1;
  }
}

// XShape keeps the extents of X behind a leading 0.
Labels behindZero(const Labels& labels, mlir::Value xshape) {
  Labels shifted{kBroadcastDim};
  shifted.append(labels.begin(), labels.end());
  shifted.resize(rankOf(xshape), kWholeDim);
  return shifted;
}

void giveXShape(RuleContext& context, mlir::Value x) {
  mlir::Value xshape = context.op().output("XShape");
  if (!xshape) return;
  Form form;
  form.terms.push_back({x, ownLabels(x), Use::Shape});
  form.result = behindZero(ownLabels(x), xshape);
  context.result("XShape", form);
}

void reshape(RuleContext& context) {
  mlir::Value x = context.op().input("X"), out = context.op().output("Out");
  if (!x || !out) return;
  Form form;
  Labels labels;
  matchShapes(dimsOf(x), dimsOf(out), labels, form.result);
  form.terms.push_back({x, labels, Use::Linear});
  context.result("Out", form);
  giveXShape(context, x);
}

void reshapeGrad(RuleContext& context) {
  mlir::Value gradient = context.op().input("Out@GRAD"), out = context.op().output("X@GRAD");
  if (!gradient || !out) return;
  Form form;
  Labels labels;
  matchShapes(dimsOf(gradient), dimsOf(out), labels, form.result);
  form.terms.push_back({gradient, labels, Use::Linear});
  context.result("X@GRAD", form);
}

void permute(RuleContext& context, llvm::StringRef from, llvm::StringRef to, bool inverse) {
  mlir::Value x = context.op().input(from), out = context.op().output(to);
  std::vector<int64_t> order = context.op().getInts("axis");
  if (!x || !out || static_cast<int>(order.size()) != rankOf(x)) return;
  Form form;
  form.terms.push_back({x, ownLabels(x), Use::Linear});
  form.result = wholeLabels(out);
  int rank = rankOf(x);
  for (int i = 0; i < rank; ++i) {
    int axis = normalAxis(order[i], rank);
    if (axis < 0 || axis >= rank || rankOf(out) != rank) return;
    form.result[inverse ? axis : i] = inverse ? i : axis;
  }
  context.result(to, form);
}

void transpose(RuleContext& context) {
  permute(context, "X", "Out", false);
  if (mlir::Value x = context.op().input("X")) giveXShape(context, x);
}
void transposeGrad(RuleContext& context) { permute(context, "Out@GRAD", "X@GRAD", true); }

// All tensors share all dims but `axis`, which must be whole.
void alongOther(RuleContext& context, llvm::StringRef from, llvm::StringRef to,
                llvm::StringRef shape) {
  const pd::OpView& op = context.op();
  int rank = -1;
  Form form;
  auto labelsOf = [&](mlir::Value value) {
    Labels labels = ownLabels(value);
    rank = static_cast<int>(labels.size());
    int whole = normalAxis(op.getInt("axis"), rank);
    if (whole >= 0 && whole < rank) labels[whole] = kWholeDim;
    return labels;
  };
  for (mlir::Value value : op.inputs(from))
    if (value) form.terms.push_back({value, labelsOf(value), Use::Linear});
  if (!shape.empty())
    for (mlir::Value value : op.inputs(shape))
      if (value) form.terms.push_back({value, labelsOf(value), Use::Shape});
  form.combine = Combine::Sum;
  for (unsigned i = 0, n = op.outputCount(to); i < n; ++i) {
    mlir::Value out = op.output(to, i);
    if (!out) continue;
    form.result = labelsOf(out);
    context.result(to, i, form);
  }
}

void concat(RuleContext& context) { alongOther(context, "X", "Out", ""); }
void concatGrad(RuleContext& context) { alongOther(context, "Out@GRAD", "X@GRAD", "X"); }
void split(RuleContext& context) { alongOther(context, "X", "Out", ""); }

// Tensors of equal shape, one behind the other along a dim of the stacked one, which must be whole.
void stackOther(RuleContext& context, llvm::StringRef from, llvm::StringRef to, bool forward) {
  const pd::OpView& op = context.op();
  mlir::Value stacked = forward ? op.output(to) : op.input(from);
  if (!stacked || rankOf(stacked) <= 0) return;
  int rank = rankOf(stacked), axis = normalAxis(op.getInt("axis"), rank);
  if (axis < 0 || axis >= rank) return;
  Labels labels;
  for (int i = 0; i < rank; ++i) labels.push_back(i == axis ? kWholeDim : i - (i > axis));
  Form form;
  form.combine = Combine::Sum;
  for (mlir::Value value : op.inputs(from)) {
    if (!value || rankOf(value) != (forward ? rank - 1 : rank)) return;
    form.terms.push_back({value, forward ? ownLabels(value) : labels, Use::Linear});
  }
  for (unsigned i = 0, n = op.outputCount(to); i < n; ++i) {
    mlir::Value out = op.output(to, i);
    if (!out) continue;
    form.result = forward ? labels : ownLabels(out);
    context.result(to, i, form);
  }
}

void stack(RuleContext& context) { stackOther(context, "X", "Y", true); }
void stackGrad(RuleContext& context) { stackOther(context, "Y@GRAD", "X@GRAD", false); }

// Dims that are repeated must be whole.
Labels expandedLabels(const pd::OpView& op, mlir::Value value) {
  Labels labels = ownLabels(value);
  std::vector<int64_t> times = op.getInts("expand_times");
  for (size_t i = 0; i < labels.size(); ++i)
    if (i >= times.size() || times[i] != 1) labels[i] = kWholeDim;
  return labels;
}

void expand(RuleContext& context) {
  mlir::Value x = context.op().input("X"), out = context.op().output("Out");
  if (!x || !out) return;
  Form form;
  form.terms.push_back({x, expandedLabels(context.op(), x), Use::Linear});
  form.result = expandedLabels(context.op(), out);
  context.result("Out", form);
}

void expandGrad(RuleContext& context) {
  mlir::Value gradient = context.op().input("Out@GRAD"), out = context.op().output("X@GRAD");
  if (!gradient || !out) return;
  Form form;
  form.terms.push_back({gradient, expandedLabels(context.op(), gradient), Use::Linear});
  form.result = expandedLabels(context.op(), out);
  context.result("X@GRAD", form);
}

// The extents of a value whose batch is cut are those of the part: known in the parts reading only.
void shapeOf(RuleContext& context) { wholeOnly(context); }

const RuleRow kRows[] = {
    {"reshape", reshape, "", "X, Shape, ShapeTensor, shape"},
    {"reshape_grad", reshapeGrad, "", "Out, Out@GRAD, Shape, ShapeTensor, X, shape"},
    {"reshape2", reshape, "", "X, Shape, ShapeTensor, shape"},
    {"reshape2_grad", reshapeGrad, "", "Out@GRAD, XShape, shape"},
    {"squeeze", reshape, "", "X, axes"},
    {"squeeze_grad", reshapeGrad, "", "Out@GRAD, X, axes"},
    {"squeeze2", reshape, "", "X, axes"},
    {"squeeze2_grad", reshapeGrad, "", "Out@GRAD, XShape, axes"},
    {"unsqueeze", reshape, "", "X, AxesTensor, AxesTensorList, axes"},
    {"unsqueeze_grad", reshapeGrad, "", "Out@GRAD, X, axes"},
    {"unsqueeze2", reshape, "", "X, AxesTensor, AxesTensorList, axes"},
    {"unsqueeze2_grad", reshapeGrad, "", "Out@GRAD, XShape, AxesTensor, AxesTensorList, axes"},
    {"flatten", reshape, "", "X, axis"},
    {"flatten_grad", reshapeGrad, "", "Out@GRAD, X, axis"},
    {"flatten2", reshape, "", "X, axis"},
    {"flatten2_grad", reshapeGrad, "", "Out@GRAD, XShape, axis"},
    {"flatten_contiguous_range", reshape, "", "X, start_axis, stop_axis"},
    {"flatten_contiguous_range_grad", reshapeGrad, "", "Out@GRAD, XShape, start_axis, stop_axis"},
    {"transpose", transpose, "", "X, axis, data_format"},
    {"transpose_grad", transposeGrad, "", "Out, Out@GRAD, X, axis, data_format"},
    {"transpose2", transpose, "", "X, axis, data_format"},
    {"transpose2_grad", transposeGrad, "", "Out@GRAD, XShape, axis, data_format"},
    {"concat", concat, "", "X, AxisTensor, axis, sections, num"},
    {"concat_grad", concatGrad, "", "AxisTensor, Out@GRAD, X, axis, sections, num"},
    {"split", split, "", "X, AxisTensor, SectionsTensorList, sections, num, axis"},
    {"stack", stack, "", "X, axis"},
    {"stack_grad", stackGrad, "", "Y@GRAD, X, axis"},
    {"expand", expand, "", "X, ExpandTimes, expand_times_tensor, expand_times"},
    {"expand_grad", expandGrad, "", "ExpandTimes, Out@GRAD, X, expand_times_tensor, expand_times"},
    {"expand_v2", batchwise, "X:l, Shape:w, expand_shapes_tensor:w -> Out", "shape"},
    {"expand_v2_grad", pointwise, "Out@GRAD:l, X:s -> X@GRAD",
     "Shape, expand_shapes_tensor, shape"},
    {"shape", shapeOf, "Input -> Out"},
    {"size", shapeOf, "Input -> Out"},
};

}  // namespace

llvm::ArrayRef<RuleRow> shapeRules() { return kRows; }

}  // namespace dtranspile::verify
