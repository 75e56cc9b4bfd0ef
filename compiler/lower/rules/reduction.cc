// Lowering rules: family `reduction`.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

const LoweringRule kRules[] = {
    {"mean", Inner::All, "Out[r] = sum(X) / count"},
    {"mean_grad", Inner::All, "X@GRAD = Out@GRAD[r] / count"},
    {"reduce_sum", Inner::Dims, "Out[r] = sum(X)"},
    {"reduce_sum_grad", Inner::Dims, "X@GRAD = Out@GRAD[r]"},
    {"reduce_mean", Inner::Dims, "Out[r] = sum(X) / count"},
    {"reduce_mean_grad", Inner::Dims, "X@GRAD = Out@GRAD[r] / count"},
    {"reduce_max", Inner::Dims, "Out[r] = max(X)"},
    {"reduce_max_grad", Inner::Dims, "X@GRAD = X == Out[r] ? Out@GRAD[r] : 0"},
    {"reduce_min", Inner::Dims, "Out[r] = min(X)"},
    {"reduce_min_grad", Inner::Dims, "X@GRAD = X == Out[r] ? Out@GRAD[r] : 0"},
    {"reduce_prod", Inner::Dims, "Out[r] = prod(X)"},
    {"reduce_prod_grad", Inner::Dims, "X@GRAD = Out@GRAD[r] * Out[r] / X"},
    {"reduce_all", Inner::Dims, "Out[r] = all(X)"},
    {"reduce_any", Inner::Dims, "Out[r] = any(X)"},
    {"logsumexp", Inner::Dims, "m = max(X); Out[r] = log(sum(exp(X - m))) + m"},
    {"logsumexp_grad", Inner::Dims, "X@GRAD = Out@GRAD[r] * exp(X - Out[r])"},
    callRule("cumsum", "dt_cumsum(X; axis, flatten, exclusive, reverse) -> Out"),
    callRule("cumsum_grad",
             "dt_cumsum(Out@GRAD; axis, flatten, exclusive, reverse, @type) -> X@GRAD"),
    callRule("cumprod", "dt_cumprod(X; dim) -> Out"),
    callRule("cumprod_grad", "dt_cumprod_grad(X, Out, Out@GRAD; dim) -> X@GRAD"),
    callRule("arg_max", "dt_arg_extreme(X; axis, keepdims, flatten, @type) -> Out"),
    callRule("arg_min", "dt_arg_extreme(X; axis, keepdims, flatten, @type) -> Out"),
    callRule("argsort", "dt_sort(X; axis, descending) -> Out, Indices"),
    callRule("argsort_grad", "dt_selected_grad(X, Indices, Out@GRAD; axis) -> X@GRAD"),
    callRule("top_k", "dt_top_k(X, K; k) -> Out, Indices"),
    callRule("top_k_v2", "dt_top_k(X, K; k, axis, largest) -> Out, Indices"),
    callRule("top_k_v2_grad", "dt_selected_grad(X, Indices, Out@GRAD; axis) -> X@GRAD"),
    callRule("kthvalue", "dt_kth_value(X; k, axis, keepdim) -> Out, Indices"),
    callRule("kthvalue_grad", "dt_selected_grad(X, Indices, Out@GRAD; axis) -> X@GRAD"),
    callRule("mode", "dt_mode(X; axis, keepdim) -> Out, Indices"),
    callRule("mode_grad", "dt_selected_grad(X, Indices, Out@GRAD; axis) -> X@GRAD"),
    callRule("histogram", "dt_histogram(X; bins, min, max) -> Out"),
    callRule("searchsorted", "dt_search_sorted(SortedSequence, Values; right) -> Out"),
    callRule("unique", "dt_unique(X; @type, axis, is_sorted) -> Out, Indices, Index, Counts"),
    callRule("unique_with_counts", "dt_unique(X; @type) -> Out, Indices, Index, Count"),
    callRule("unique_consecutive", "dt_unique(X; @type, axis) -> Out, Indices, Index, Counts"),
};

}  // namespace

RuleTable reductionRules() { return kRules; }

}  // namespace dtranspile::lower
