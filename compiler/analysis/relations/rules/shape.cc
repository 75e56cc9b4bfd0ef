// Relation rules: family `shape`: reshapes, permutations, what joins and cuts. Repetition, padding
// and what moves elements within a sample: repetition.cc. Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/reshapes.h"
#include "compiler/analysis/relations/rules/families.h"
#include "dialects/dist/dist.h"
#include "llvm/ADT/STLExtras.h"

namespace dtranspile::verify {
namespace {

// XShape keeps the extents of X after a leading 0.
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

// Extents of what the forward op took: those of X, or after the 0 of XShape.
llvm::SmallVector<int64_t> shapeBefore(mlir::Value x, mlir::Value xshape) {
  if (x) return dimsOf(x);
  llvm::SmallVector<int64_t> dims = dimsOf(xshape);
  if (!dims.empty()) dims.erase(dims.begin());
  return dims;
}

void addUnknown(const ReshapeLabels& labels, Form& form) {
  for (mlir::Value value : labels.unknown)
    form.terms.push_back({value, wholeLabels(value), Use::Value});
}

// Extents that are fixed numbers are those of the whole batch: a share does not fit them.
void reshape(RuleContext& context) {
  mlir::Value x = context.op().input("X"), out = context.op().output("Out");
  if (!x || !out) return;
  ReshapeLabels labels = reshapeLabels(context, context.op(), dimsOf(x), rankOf(out));
  Form form;
  form.shareable = false;
  form.terms.push_back({x, labels.from, Use::Linear});
  form.terms.append(labels.extents);
  addUnknown(labels, form);
  form.result = labels.to;
  context.result("Out", form);
  giveXShape(context, x);
}

// The op that made a value, be it in another guard, which handed it on (the task of the forward
// part to that of the backward part).
mlir::Operation* makerOf(mlir::Value value) {
  while (value) {
    if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) {
      auto on = llvm::dyn_cast_or_null<dist::OnOp>(argument.getOwner()->getParentOp());
      if (!on || argument.getArgNumber() >= on.getInputs().size()) return nullptr;
      value = on.getInputs()[argument.getArgNumber()];
      continue;
    }
    mlir::Operation* maker = value.getDefiningOp();
    if (auto on = llvm::dyn_cast<dist::OnOp>(maker)) {
      mlir::Operation* yield = on.getBody().front().getTerminator();
      value = yield->getOperand(llvm::cast<mlir::OpResult>(value).getResultNumber());
    } else if (auto transfer = llvm::dyn_cast<dist::TransferOp>(maker)) {
      value = transfer.getInput();
    } else {
      return maker;
    }
  }
  return nullptr;
}

// The op that made XShape, whose numbers the gradient may lack.
pd::OpView forwardOf(const pd::OpView& op) {
  mlir::Operation* maker = makerOf(op.input("XShape"));
  return maker && pd::OpView::isFrameworkOp(maker) ? pd::OpView(maker) : op;
}

// A reshape backwards. The extents that it goes back to are those of X, or of XShape behind its
// leading 0; labels tie dims that have the same elements in front of them, since only these stay
// cut where they were.
void reshapeGrad(RuleContext& context) {
  const pd::OpView& op = context.op();
  mlir::Value gradient = op.input("Out@GRAD"), x = op.input("X"), xshape = op.input("XShape"),
              out = op.output("X@GRAD");
  if (!gradient || !out) return;
  Form form;
  form.shareable = false;
  if (!x && !xshape) return context.lose("X@GRAD", 0, "is told no extents of X");
  const llvm::SmallVector<int64_t> dims = shapeBefore(x, xshape);
  ReshapeLabels labels = reshapeLabels(context, forwardOf(op), dims, rankOf(gradient));
  // The first dims have nothing before them, whatever the extents are.
  if (!dims.empty() && rankOf(gradient) > 0 && labels.from[0] < 0 && labels.to[0] < 0)
    labels.from[0] = labels.to[0] = 0;
  form.terms.push_back({gradient, labels.to, Use::Linear});
  // One value per share has the extents of the share, whatever they are.
  mlir::Value source = x ? x : forwardOf(op).input("X");
  const bool perShare = source && llvm::any_of(context.relation(source).whole.states,
                                               [](const State& one) { return one.isParts(); });
  if (!perShare)
    form.terms.push_back(
        {x ? x : xshape, x ? labels.from : behindZero(labels.from, xshape), Use::Shape});
  form.result = labels.from;
  if (static_cast<int>(form.result.size()) != rankOf(out)) return;
  context.result("X@GRAD", form);
}

// The gradient of a gradient has the extents of the reshape's result.
void reshapeSecondGrad(RuleContext& context) {
  mlir::Value x = context.op().input("DDX"), like = context.op().input("DOut"),
              out = context.op().output("DDOut");
  if (!x || !like || !out) return;
  ReshapeLabels labels = reshapeLabels(context, context.op(), dimsOf(x), rankOf(out));
  Form form;
  form.shareable = false;
  form.terms.push_back({x, labels.from, Use::Linear});
  form.terms.push_back({like, labels.to, Use::Shape});
  form.terms.append(labels.extents);
  addUnknown(labels, form);
  form.result = labels.to;
  context.result("DDOut", form);
}

// Dim i of the result is dim axis[i] of X, and the other way round for the gradient.
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
  // The gradient looks at the extents of X.
  if (mlir::Value other = inverse ? context.op().input("X") : mlir::Value())
    form.terms.push_back({other, form.result, Use::Shape});
  else if (mlir::Value shape = inverse ? context.op().input("XShape") : mlir::Value())
    form.terms.push_back({shape, behindZero(form.result, shape), Use::Shape});
  context.result(to, form);
}

void transpose(RuleContext& context) {
  permute(context, "X", "Out", false);
  if (mlir::Value x = context.op().input("X")) giveXShape(context, x);
}
void transposeGrad(RuleContext& context) { permute(context, "Out@GRAD", "X@GRAD", true); }

// All tensors share all dims but `axis`, which must be whole: so must the numbers that say where it
// is cut.
void alongOther(RuleContext& context, llvm::StringRef from, llvm::StringRef to,
                llvm::StringRef shape) {
  const pd::OpView& op = context.op();
  std::optional<llvm::SmallVector<int64_t>> axis = knownNumbers(op, {"", "AxisTensor", "axis"});
  auto labelsOf = [&](mlir::Value value) {
    Labels labels = axis && axis->size() == 1 ? ownLabels(value) : wholeLabels(value);
    const int rank = static_cast<int>(labels.size());
    const int whole = axis && axis->size() == 1 ? normalAxis(axis->front(), rank) : -1;
    if (whole >= 0 && whole < rank) labels[whole] = kWholeDim;
    return labels;
  };
  Form form;
  for (mlir::Value value : op.inputs(from))
    if (value) form.terms.push_back({value, labelsOf(value), Use::Linear});
  if (!shape.empty())
    for (mlir::Value value : op.inputs(shape))
      if (value) form.terms.push_back({value, labelsOf(value), Use::Shape});
  for (llvm::StringRef slot : {"AxisTensor", "SectionsTensorList"})
    for (mlir::Value value : op.inputs(slot))
      if (value && !numbersOf(value)) {
        form.terms.push_back({value, wholeLabels(value), Use::Value});
        form.shareable = false;
      }
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

// Tensors of equal shape, one after the other along a dim of the stacked one, which must be whole.
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
  if (!forward)
    for (mlir::Value other : op.inputs("X"))
      if (other && op.type() == "stack_grad")
        form.terms.push_back({other, ownLabels(other), Use::Shape});
  for (unsigned i = 0, n = op.outputCount(to); i < n; ++i) {
    mlir::Value out = op.output(to, i);
    if (!out) continue;
    form.result = forward ? labels : ownLabels(out);
    context.result(to, i, form);
  }
}

void stack(RuleContext& context) { stackOther(context, "X", "Y", true); }
void stackGrad(RuleContext& context) { stackOther(context, "Y@GRAD", "X@GRAD", false); }
void unstack(RuleContext& context) { stackOther(context, "X", "Y", false); }
void unstackGrad(RuleContext& context) { stackOther(context, "Y@GRAD", "X@GRAD", true); }
void unbind(RuleContext& context) { stackOther(context, "X", "Out", false); }

// Some of the extents, none of them that of a dim of which ranks have parts.
bool takesWholeExtents(RuleContext& context, mlir::Operation* user) {
  if (!pd::OpView::isFrameworkOp(user) || pd::OpView(user).type() != "slice") return false;
  std::optional<Numbers> numbers = numbersOf(pd::OpView(user).output("Out"));
  return numbers && llvm::none_of(*numbers, [&](const Number& number) {
           return number.isExtent() && isSplitAlong(context, number.tensor, number.dim);
         });
}

// The extents of a value whose batch is cut are those of the part: known in the parts reading only.
// The op couples no samples where nobody looks at the batch.
void shapeOf(RuleContext& context) {
  wholeOnly(context);
  mlir::Value out = context.op().output("Out");
  if (out && context.op().type() == "shape" &&
      llvm::all_of(out.getUsers(), [&](auto* user) { return takesWholeExtents(context, user); }))
    context.noSite();
}

#define DT_RESHAPE "Shape, ShapeTensor, shape"
#define DT_UNSQUEEZE "AxesTensor, AxesTensorList, axes"
#define DT_TRANSPOSE "axis, data_format"
// Sections are taken along the axis, which is whole.
#define DT_CONCAT "AxisTensor, axis, sections, num"

const RuleRow kRows[] = {
    {"reshape", reshape, "", "X, " DT_RESHAPE},
    {"reshape_grad", reshapeGrad, "", "Out, Out@GRAD, X, " DT_RESHAPE},
    {"reshape2", reshape, "", "X, " DT_RESHAPE},
    {"reshape2_grad", reshapeGrad, "", "Out@GRAD, XShape, shape"},
    {"reshape2_grad_grad", reshapeSecondGrad, "", "DOut, DDX, shape"},
    {"squeeze", reshape, "", "X, axes"},
    {"squeeze_grad", reshapeGrad, "", "Out@GRAD, X, axes"},
    {"squeeze2", reshape, "", "X, axes"},
    {"squeeze2_grad", reshapeGrad, "", "Out@GRAD, XShape, axes"},
    {"unsqueeze", reshape, "", "X, " DT_UNSQUEEZE},
    {"unsqueeze_grad", reshapeGrad, "", "Out@GRAD, X, axes"},
    {"unsqueeze2", reshape, "", "X, " DT_UNSQUEEZE},
    {"unsqueeze2_grad", reshapeGrad, "", "Out@GRAD, XShape, " DT_UNSQUEEZE},
    {"flatten", reshape, "", "X, axis"},
    {"flatten_grad", reshapeGrad, "", "Out@GRAD, X, axis"},
    {"flatten2", reshape, "", "X, axis"},
    {"flatten2_grad", reshapeGrad, "", "Out@GRAD, XShape, axis"},
    {"flatten_contiguous_range", reshape, "", "X, start_axis, stop_axis"},
    {"flatten_contiguous_range_grad", reshapeGrad, "", "Out@GRAD, XShape, start_axis, stop_axis"},
    {"transpose", transpose, "", "X, " DT_TRANSPOSE},
    {"transpose_grad", transposeGrad, "", "Out, Out@GRAD, X, " DT_TRANSPOSE},
    {"transpose2", transpose, "", "X, " DT_TRANSPOSE},
    {"transpose2_grad", transposeGrad, "", "Out@GRAD, XShape, " DT_TRANSPOSE},
    {"concat", concat, "", "X, " DT_CONCAT},
    {"concat_grad", concatGrad, "", "Out@GRAD, X, " DT_CONCAT},
    {"split", split, "", "X, SectionsTensorList, " DT_CONCAT},
    {"stack", stack, "", "X, axis"},
    {"stack_grad", stackGrad, "", "Y@GRAD, X, axis"},
    {"unstack", unstack, "", "X, axis, num"},
    {"unstack_grad", unstackGrad, "", "Y@GRAD, axis, num"},
    {"unbind", unbind, "", "X, axis"},
    {"shape", shapeOf, "Input -> Out"},
    {"size", shapeOf, "Input -> Out"},
};

}  // namespace

llvm::ArrayRef<RuleRow> shapeRules() { return kRows; }

}  // namespace dtranspile::verify
