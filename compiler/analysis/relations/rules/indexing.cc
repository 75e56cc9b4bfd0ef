// Relation rules: family `indexing`. Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"
#include "llvm/ADT/STLExtras.h"

namespace dtranspile::verify {
namespace {

// Dims that are cut must be whole; `decrease_axis` removes some of them from the result.
Labels slicedLabels(const pd::OpView& op, mlir::Value whole) {
  Labels labels = ownLabels(whole);
  for (int64_t axis : op.getInts("axes"))
    if (axis >= 0 && axis < static_cast<int64_t>(labels.size())) labels[axis] = kWholeDim;
  return labels;
}

Labels withoutDecreased(const pd::OpView& op, const Labels& labels, mlir::Value small) {
  std::vector<int64_t> decreased = op.getInts("decrease_axis");
  Labels left;
  for (int i = 0, n = static_cast<int>(labels.size()); i < n; ++i)
    if (!llvm::is_contained(decreased, i)) left.push_back(labels[i]);
  left.resize(rankOf(small), kBroadcastDim);
  return left;
}

void slice(RuleContext& context) {
  const pd::OpView& op = context.op();
  mlir::Value x = op.input("Input"), out = op.output("Out");
  if (!x || !out) return;
  Form form;
  form.terms.push_back({x, slicedLabels(op, x), Use::Linear});
  form.result = withoutDecreased(op, form.terms[0].labels, out);
  context.result("Out", form);
}

void sliceGrad(RuleContext& context) {
  const pd::OpView& op = context.op();
  mlir::Value x = op.input("Input"), gradient = op.input("Out@GRAD");
  if (!x || !gradient) return;
  Labels labels = slicedLabels(op, x);
  Form form;
  form.terms.push_back({gradient, withoutDecreased(op, labels, gradient), Use::Linear});
  form.terms.push_back({x, labels, Use::Shape});
  form.result = labels;
  context.result("Input@GRAD", form);
}

const RuleRow kRows[] = {
    {"slice", slice, "",
     "Input, StartsTensor, EndsTensor, StartsTensorList, EndsTensorList, axes, starts, ends, "
     "infer_flags, decrease_axis"},
    {"slice_grad", sliceGrad, "",
     "EndsTensor, EndsTensorList, Input, Out@GRAD, StartsTensor, StartsTensorList, axes, starts, "
     "ends, infer_flags, decrease_axis"},
    {"gather", batchwise, "X:wl, Index -> Out", "Axis, overwrite, axis"},
    {"gather_grad", batchwise, "Out@GRAD:l, Index, X:ws -> +X@GRAD", "Axis, overwrite, axis"},
};

}  // namespace

llvm::ArrayRef<RuleRow> indexingRules() { return kRows; }

}  // namespace dtranspile::verify
