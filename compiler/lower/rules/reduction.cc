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
    // Equal extremes share the gradient.
    {"reduce_amax", Inner::Dims, "Out[r] = max(X)"},
    {"reduce_amax_grad", Inner::Dims,
     "n = sum(X == Out[r] ? 1 : 0); X@GRAD = X == Out[r] ? Out@GRAD[r] / n : 0"},
    {"reduce_amin", Inner::Dims, "Out[r] = min(X)"},
    {"reduce_amin_grad", Inner::Dims,
     "n = sum(X == Out[r] ? 1 : 0); X@GRAD = X == Out[r] ? Out@GRAD[r] / n : 0"},
    {"reduce_prod", Inner::Dims, "Out[r] = prod(X)"},
    {"reduce_prod_grad", Inner::Dims, "X@GRAD = Out@GRAD[r] * Out[r] / X"},
    {"reduce_all", Inner::Dims, "Out[r] = all(X)"},
    {"reduce_any", Inner::Dims, "Out[r] = any(X)"},
    {"logsumexp", Inner::Dims, "m = max(X); Out[r] = log(sum(exp(X - m))) + m"},
    {"logsumexp_grad", Inner::Dims, "X@GRAD = Out@GRAD[r] * exp(X - Out[r])"},
    callRule("cumsum", "dt_cumsum(@type=-)"),
    callRule("cumsum_grad", "dt_cumsum(X=Out@GRAD, Out=X@GRAD)"),
    callRule("logcumsumexp", "dt_log_cumsum"),
    callRule("logcumsumexp_grad", "dt_log_cumsum_grad"),
    callRule("cumprod", "dt_cumprod"),
    callRule("cumprod_grad", "dt_cumprod_grad"),
    callRule("cummax", "dt_cumulative_extreme(X=x, Out=out, Indices=indices)"),
    callRule("cummax_grad",
             "dt_cumulative_extreme_grad(X=x, Indices=indices, Out@GRAD=out@GRAD, X@GRAD=x@GRAD)"),
    callRule("cummin", "dt_cumulative_extreme(X=x, Out=out, Indices=indices)"),
    callRule("cummin_grad",
             "dt_cumulative_extreme_grad(X=x, Indices=indices, Out@GRAD=out@GRAD, X@GRAD=x@GRAD)"),
    callRule("arg_max", "dt_arg_extreme"),
    callRule("arg_min", "dt_arg_extreme"),
    callRule("argsort", "dt_sort"),
    callRule("argsort_grad", "dt_selected_grad"),
    callRule("top_k", "dt_top_k(axis=-, largest=-)"),
    callRule("top_k_grad", "dt_selected_grad(axis=-)"),
    callRule("top_k_v2", "dt_top_k"),
    callRule("top_k_v2_grad", "dt_selected_grad"),
    callRule("kthvalue", "dt_kth_value"),
    callRule("kthvalue_grad", "dt_selected_grad"),
    callRule("mode", "dt_mode"),
    callRule("mode_grad", "dt_selected_grad"),
    callRule("nanmedian", "dt_nan_median"),
    callRule("nanmedian_grad", "dt_nan_median_grad"),
    callRule("bincount", "dt_bin_count"),
    callRule("histogram", "dt_histogram"),
    callRule("searchsorted", "dt_search_sorted"),
    callRule("unique", "dt_unique"),
    callRule("unique_with_counts", "dt_unique(axis=-, is_sorted=-, Indices=-, Counts=Count)"),
    callRule("unique_consecutive", "dt_unique(is_sorted=-, Indices=-)"),
};

}  // namespace

RuleTable reductionRules() { return kRules; }

}  // namespace dtranspile::lower
