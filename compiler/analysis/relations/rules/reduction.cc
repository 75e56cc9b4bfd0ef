// Relation rules: family `reduction`. A mean divides by the local extent, so a mean over a split
// batch is n times too large a share: P(sum) of scale n. Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"
#include "llvm/ADT/STLExtras.h"

namespace dtranspile::verify {
namespace {

// The dims that the op is told to reduce; empty: all, whatever their number.
std::vector<int64_t> dimsToReduce(const pd::OpView& op) {
  if (op.type().starts_with("mean") ||
      (op.spec()->attribute("reduce_all") && op.getBool("reduce_all")))
    return {};
  for (llvm::StringRef name : {"axis", "dim"})
    if (op.spec()->attribute(name)) return op.getInts(name);
  return {};
}

// Of X, which has `rank` dims.
llvm::SmallVector<bool, 6> reducedDims(const pd::OpView& op, int rank) {
  const std::vector<int64_t> dims = dimsToReduce(op);
  llvm::SmallVector<bool, 6> reduced(rank, dims.empty());
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

// The one form of all reductions: reduced dims are folded by `fold`, and those that a mean divides
// by are listed, so that a mean over a split dim gets the factor of the number of parts.
void reduceWith(RuleContext& context, Fold fold, bool mean, Use use) {
  mlir::Value x = context.op().input("X"), out = context.op().output("Out");
  if (!x || !out) return;
  llvm::SmallVector<bool, 6> reduced = reducedDims(context.op(), rankOf(x));
  Form form;
  form.terms.push_back({x, ownLabels(x), use});
  form.result = reducedLabels(out, reduced);
  form.fold = fold;
  // Of a flat part nothing is known but that it has elements of all dims.
  form.flat = dimsToReduce(context.op()).empty();
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
// No state stands for "and", or for the logarithm of a sum: split operands are lost.
void reduceWhole(RuleContext& context) { reduceWith(context, Fold::None, false, Use::Value); }

// The gradient of a sum or mean spreads Out@GRAD over X; a mean divides by the local extent.
void spreadGrad(RuleContext& context) {
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

// Gradients that are an expression of an element of X and of the result that it went into.
void elementGrad(RuleContext& context) {
  const pd::OpView& op = context.op();
  mlir::Value x = op.input("X"), gradient = op.input("Out@GRAD"), out = op.input("Out");
  if (!x || !gradient) return;
  llvm::SmallVector<bool, 6> reduced = reducedDims(op, rankOf(x));
  Form form;
  form.terms.push_back({gradient, reducedLabels(gradient, reduced), Use::Linear});
  form.terms.push_back({x, ownLabels(x), Use::Value});
  if (out) form.terms.push_back({out, reducedLabels(out, reduced), Use::Value});
  form.result = ownLabels(x);
  context.result("X@GRAD", form);
}

// The same where an element's share depends on all that were reduced with it.
void sharedGrad(RuleContext& context) {
  const pd::OpView& op = context.op();
  mlir::Value x = op.input("X"), gradient = op.input("Out@GRAD"), out = op.input("Out");
  if (!x || !gradient || !out) return;
  llvm::SmallVector<bool, 6> reduced = reducedDims(op, rankOf(x));
  Labels labels = ownLabels(x);
  for (auto [label, one] : llvm::zip(labels, reduced))
    if (one) label = kWholeDim;
  Form form;
  form.terms = {{gradient, reducedLabels(gradient, reduced), Use::Linear},
                {x, labels, Use::Value},
                {out, reducedLabels(out, reduced), Use::Value}};
  form.result = labels;
  context.result("X@GRAD", form);
}

// Medians along the axes. Places are two numbers for each of them, in one dim, so that parts of dim
// 0 lie one after the other in it; parts of others do not.
void median(RuleContext& context) {
  const pd::OpView& op = context.op();
  const bool back = op.type() == "nanmedian_grad";
  mlir::Value x = op.input("X"), gradient = op.input("Out@GRAD"), out = op.output("Out"),
              places = back ? op.input("MedianIndex") : op.output("MedianIndex");
  if (!x || (back && (!gradient || !places))) return;
  const llvm::SmallVector<bool, 6> reduced = reducedDims(op, rankOf(x));
  Labels labels = ownLabels(x), rows = wholeLabels(x);
  for (auto [label, one] : llvm::zip(labels, reduced))
    if (one) label = kWholeDim;
  const bool byRow = !reduced.empty() && !reduced[0];
  if (byRow) rows[0] = 0;
  auto placed = [&](mlir::Value value) {
    Labels own = wholeLabels(value);
    if (byRow && rankOf(value) == 1) own[0] = 0;
    return own;
  };
  Form form;
  if (!back) {
    form.terms = {{x, labels, Use::Value}};
    if (out) {
      form.result = reducedLabels(out, reduced);
      context.result("Out", form);
    }
    if (!places) return;
    form.terms = {{x, rows, Use::Value}};
    form.result = placed(places);
    return context.result("MedianIndex", form);
  }
  Labels small = reducedLabels(gradient, reduced);
  for (int& label : small)
    if (label > 0) label = kWholeDim;
  form.terms = {
      {gradient, small, Use::Linear}, {places, placed(places), Use::Value}, {x, rows, Use::Shape}};
  form.result = rows;
  context.result("X@GRAD", form);
}

// How many numbers are counted depends on all of them.
void binCount(RuleContext& context) {
  mlir::Value x = context.op().input("X"), weights = context.op().input("Weights"),
              out = context.op().output("Out");
  if (!x || !out) return;
  Form form;
  form.terms.push_back({x, wholeLabels(x), Use::Value});
  if (weights) form.terms.push_back({weights, wholeLabels(weights), Use::Value});
  form.result = wholeLabels(out);
  form.shareable = false;
  context.result("Out", form);
}

// Counts add up, where the range that is counted in does not depend on the data.
void histogram(RuleContext& context) {
  mlir::Value x = context.op().input("X"), out = context.op().output("Out");
  if (!x || !out) return;
  const bool fixed = context.op().getInt("min") != 0 || context.op().getInt("max") != 0;
  Form form;
  form.terms.push_back({x, ownLabels(x), Use::Value});
  form.result = wholeLabels(out);
  form.fold = fixed ? Fold::Sum : Fold::None;
  context.result("Out", form);
}

// In a sequence for all, or in that of the same row.
void searchSorted(RuleContext& context) {
  mlir::Value sequence = context.op().input("SortedSequence"),
              values = context.op().input("Values");
  if (!sequence || !values) return;
  Form form;
  form.terms.push_back({sequence, ownLabels(sequence), Use::Value});
  form.terms.push_back({values, ownLabels(values), Use::Value});
  form.result = ownLabels(values);
  if (!form.terms[0].labels.empty()) form.terms[0].labels.back() = kWholeDim;
  if (rankOf(sequence) > 1) form.terms[1].labels.back() = form.result.back() = kWholeDim;
  context.result("Out", form);
}

#define DT_REDUCE "dim, keep_dim, reduce_all, in_dtype, out_dtype"
#define DT_REDUCE_GRAD "Out@GRAD, X, " DT_REDUCE
#define DT_ARG "axis, keepdims, dtype, flatten"

const RuleRow kRows[] = {
    {"reduce_sum", reduceSum, "", "X, " DT_REDUCE},
    {"reduce_sum_grad", spreadGrad, "", DT_REDUCE_GRAD},
    {"reduce_mean", reduceMean, "", "X, " DT_REDUCE},
    {"reduce_mean_grad", spreadGrad, "", DT_REDUCE_GRAD},
    {"mean", reduceMean, "", "X"},
    {"mean_grad", spreadGrad, "", "Out@GRAD, X"},
    {"reduce_max", reduceMax, "", "X, " DT_REDUCE},
    {"reduce_max_grad", elementGrad, "", "Out, " DT_REDUCE_GRAD},
    {"reduce_min", reduceMin, "", "X, " DT_REDUCE},
    {"reduce_min_grad", elementGrad, "", "Out, " DT_REDUCE_GRAD},
    {"reduce_amax", reduceMax, "", "X, " DT_REDUCE},
    {"reduce_amax_grad", sharedGrad, "", "Out, " DT_REDUCE_GRAD},
    {"reduce_amin", reduceMin, "", "X, " DT_REDUCE},
    {"reduce_amin_grad", sharedGrad, "", "Out, " DT_REDUCE_GRAD},
    {"reduce_prod", reduceProd, "", "X, " DT_REDUCE},
    {"reduce_prod_grad", elementGrad, "", "Out, " DT_REDUCE_GRAD},
    {"reduce_any", reduceAny, "", "X, " DT_REDUCE},
    {"reduce_all", reduceWhole, "", "X, " DT_REDUCE},
    {"logsumexp", reduceWhole, "", "X, axis, keepdim, reduce_all"},
    {"logsumexp_grad", elementGrad, "", "Out, Out@GRAD, X, axis, keepdim, reduce_all"},
    {"frobenius_norm", reduceWhole, "", "X, " DT_REDUCE},
    {"frobenius_norm_grad", elementGrad, "", "Out, " DT_REDUCE_GRAD},
    {"arg_max", rowwise, "X:m -> Out", DT_ARG},
    {"arg_min", rowwise, "X:m -> Out", DT_ARG},
    {"argsort", rowwise, "X:h -> Out; X:m -> Indices", "axis, descending"},
    {"argsort_grad", rowwise, "Out@GRAD:l, Indices, X:s -> X@GRAD", "axis, descending"},
    {"top_k", rowwise, "X:h, K:w -> Out; X:m, K:w -> Indices", "k"},
    {"top_k_grad", rowwise, "Out@GRAD:l, Indices, K:w, X:s -> X@GRAD", "k"},
    {"top_k_v2", rowwise, "X:h, K:w -> Out; X:m, K:w -> Indices", "k, axis, largest, sorted"},
    {"top_k_v2_grad", rowwise, "Out@GRAD:l, Indices, K:w, X:s -> X@GRAD",
     "k, axis, largest, sorted"},
    {"kthvalue", rowwise, "X:h -> Out; X:m -> Indices", "k, axis, keepdim"},
    {"kthvalue_grad", rowwise, "Out@GRAD:l, Indices, X:s -> X@GRAD", "k, axis, keepdim"},
    {"mode", rowwise, "X:h -> Out; X:m -> Indices", "axis, keepdim"},
    {"mode_grad", rowwise, "Out@GRAD:l, Indices, X:s -> X@GRAD", "axis, keepdim"},
    {"cumsum", rowwise, "X:l -> Out", "axis, exclusive, reverse, flatten"},
    {"cumsum_grad", rowwise, "Out@GRAD:l, X:s -> X@GRAD", "axis, exclusive, reverse, flatten"},
    {"cummax", rowwise, "x:h -> out; x:m -> indices", "axis, dtype"},
    {"cummax_grad", rowwise, "out@GRAD:l, indices, x:s -> x@GRAD", "axis, dtype"},
    {"cummin", rowwise, "x:h -> out; x:m -> indices", "axis, dtype"},
    {"cummin_grad", rowwise, "out@GRAD:l, indices, x:s -> x@GRAD", "axis, dtype"},
    {"logcumsumexp", rowwise, "X -> Out", "axis, exclusive, reverse, flatten"},
    {"logcumsumexp_grad", rowwise, "Out@GRAD:l, Out, X -> X@GRAD",
     "axis, exclusive, reverse, flatten"},
    {"cumprod", rowwise, "X -> Out", "dim"},
    {"cumprod_grad", rowwise, "Out@GRAD:l, Out, X -> X@GRAD", "dim"},
    {"nanmedian", median, "", "X, axis, keepdim"},
    {"nanmedian_grad", median, "", "X, MedianIndex, Out@GRAD, axis, keepdim"},
    {"bincount", binCount, "", "X, Weights, minlength"},
    {"histogram", histogram, "", "X, bins, min, max"},
    {"unique", wholeOnly, "X -> Out, Index, Indices, Counts",
     "dtype, return_index, return_inverse, return_counts, axis, is_sorted"},
    {"unique_with_counts", wholeOnly, "X -> Out, Index, Count", "dtype"},
    {"unique_consecutive", wholeOnly, "X -> Out, Index, Counts",
     "return_inverse, return_counts, axis, dtype"},
    {"searchsorted", searchSorted, "", "SortedSequence, Values, out_int32, right"},
};

}  // namespace

llvm::ArrayRef<RuleRow> reductionRules() { return kRows; }

}  // namespace dtranspile::verify
