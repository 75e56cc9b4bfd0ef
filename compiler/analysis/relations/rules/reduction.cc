// Relation rules: family `reduction`. A mean divides by the local extent, so a mean over a split
// batch is n times too large a share: P(sum) of scale n. Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"
#include "llvm/ADT/STLExtras.h"

namespace dtranspile::verify {
namespace {

// The dims of X that the op reduces.
llvm::SmallVector<bool, 6> reducedDims(const pd::OpView& op, int rank) {
  llvm::SmallVector<bool, 6> reduced(rank, false);
  bool all = op.type().starts_with("mean") ||
             (op.spec()->attribute("reduce_all") && op.getBool("reduce_all"));
  std::vector<int64_t> dims;
  for (llvm::StringRef name : {"dim", "axis"})
    if (op.spec()->attribute(name)) dims = op.getInts(name);
  if (all || dims.empty()) reduced.assign(rank, true);
  for (int64_t dim : dims)
    if (int at = normalAxis(dim, rank); at >= 0 && at < rank) reduced[at] = true;
  return reduced;
}

// Labels of the reduced tensor: those of the dims that stay, with or without dims of extent 1 for
// the others.
Labels reducedLabels(mlir::Value value, llvm::ArrayRef<bool> reduced) {
  Labels labels;
  bool kept = rankOf(value) == static_cast<int>(reduced.size());
  for (int i = 0, n = static_cast<int>(reduced.size()); i < n; ++i) {
    if (!reduced[i]) labels.push_back(i);
    else if (kept) labels.push_back(kBroadcastDim);
  }
  labels.resize(rankOf(value), kBroadcastDim);  // a full reduction gives [1] in old programs
  return labels;
}

void reduceWith(RuleContext& context, Fold fold, bool mean, Use use) {
  mlir::Value x = context.op().input("X"), out = context.op().output("Out");
  if (!x || !out) return;
  llvm::SmallVector<bool, 6> reduced = reducedDims(context.op(), rankOf(x));
  Form form;
  form.terms.push_back({x, ownLabels(x), use});
  form.result = reducedLabels(out, reduced);
  form.fold = fold;
  if (mean)
    for (auto [i, one] : llvm::enumerate(reduced))
      if (one) form.averaged.push_back(static_cast<int>(i));
  context.result("Out", form);
}

void reduceSum(RuleContext& context) { reduceWith(context, Fold::Sum, false, Use::Linear); }
void reduceMean(RuleContext& context) { reduceWith(context, Fold::Sum, true, Use::Linear); }
void reduceMax(RuleContext& context) { reduceWith(context, Fold::Max, false, Use::Homogeneous); }
void reduceMin(RuleContext& context) { reduceWith(context, Fold::Min, false, Use::Homogeneous); }
void reduceProd(RuleContext& context) { reduceWith(context, Fold::Prod, false, Use::Value); }
void reduceAny(RuleContext& context) { reduceWith(context, Fold::Or, false, Use::Value); }
// No state stands for "and": split operands are lost.
void reduceAll(RuleContext& context) { reduceWith(context, Fold::None, false, Use::Value); }

// The gradient of a sum or mean spreads Out@GRAD over X; a mean divides by the local extent.
void reduceGrad(RuleContext& context) {
  const pd::OpView& op = context.op();
  mlir::Value x = op.input("X"), gradient = op.input("Out@GRAD");
  if (!x || !gradient) return;
  llvm::SmallVector<bool, 6> reduced = reducedDims(op, rankOf(x));
  Form form;
  form.terms.push_back({gradient, reducedLabels(gradient, reduced), Use::Linear});
  form.terms.push_back({x, ownLabels(x), Use::Shape});
  form.result = ownLabels(x);
  if (op.type().contains("mean"))
    for (auto [i, one] : llvm::enumerate(reduced))
      if (one) form.averaged.push_back(static_cast<int>(i));
  context.result("X@GRAD", form);
}

const RuleRow kRows[] = {
    {"reduce_sum", reduceSum, "", "X, dim, keep_dim, reduce_all, in_dtype, out_dtype"},
    {"reduce_sum_grad", reduceGrad, "",
     "Out@GRAD, X, dim, keep_dim, reduce_all, in_dtype, out_dtype"},
    {"reduce_mean", reduceMean, "", "X, dim, keep_dim, reduce_all, in_dtype, out_dtype"},
    {"reduce_mean_grad", reduceGrad, "",
     "Out@GRAD, X, dim, keep_dim, reduce_all, in_dtype, out_dtype"},
    {"mean", reduceMean, "", "X"},
    {"mean_grad", reduceGrad, "", "Out@GRAD, X"},
    {"reduce_max", reduceMax, "", "X, dim, keep_dim, reduce_all, in_dtype, out_dtype"},
    {"reduce_min", reduceMin, "", "X, dim, keep_dim, reduce_all, in_dtype, out_dtype"},
    {"reduce_prod", reduceProd, "", "X, dim, keep_dim, reduce_all, in_dtype, out_dtype"},
    {"reduce_any", reduceAny, "",
     "X, AxisTensor, AxisTensorList, dim, keep_dim, reduce_all, in_dtype, out_dtype"},
    {"reduce_all", reduceAll, "",
     "X, AxisTensor, AxisTensorList, dim, keep_dim, reduce_all, in_dtype, out_dtype"},
    {"arg_max", rowwise, "X:m -> Out", "axis, keepdims, dtype, flatten"},
    {"arg_min", rowwise, "X:m -> Out", "axis, keepdims, dtype, flatten"},
    {"argsort", rowwise, "X:h -> Out; X:m -> Indices", "axis, descending"},
    {"top_k", rowwise, "X:h, K:w -> Out; X:m, K:w -> Indices", "k"},
    {"top_k_v2", rowwise, "X:h, K:w -> Out; X:m, K:w -> Indices", "k, axis, largest, sorted"},
    {"cumsum", rowwise, "X:l -> Out", "axis, exclusive, reverse, flatten"},
    {"logsumexp", wholeOnly, "X -> Out", "axis, keepdim, reduce_all"},
};

}  // namespace

llvm::ArrayRef<RuleRow> reductionRules() { return kRows; }

}  // namespace dtranspile::verify
