// Rows of the op table: family `reduction`. Notation: op_table.h; read by op_table.cc.

#include "dialects/pd/ops/constraints.h"
#include "dialects/pd/ops/families.h"
#include "dialects/pd/ops/infer_common.h"
#include "dialects/pd/ops/infer_reduction.h"

namespace dtranspile::pd {
namespace {

constexpr const char* kReduceSumAttributes =
    "dim:is={0}, keep_dim:b=false, reduce_all:b=false, in_dtype:i=-1, out_dtype:i=-1";

constexpr const char* kReduceAllAttributes =
    "dim:ls|is={0}, keep_dim:b=false, reduce_all:b=false, in_dtype:i=-1, out_dtype:i=-1";

constexpr const char* kLogsumexpAttributes = "axis:is={0}, keepdim:b=false, reduce_all:b=false";

constexpr const char* kCumsumAttributes =
    "axis:i=-1, exclusive:b=false, reverse:b=false, flatten:b=false@1";

constexpr const char* kArgMaxAttributes = "axis:l, keepdims:b=false, dtype:i=3, flatten:b=false";

constexpr const char* kTopKV2Attributes = "k:i=1, axis:i=-1, largest:b=true, sorted:b=true";

const OpRow kRows[] = {
    {"reduce_sum", "X -> Out", kReduceSumAttributes, kPure, inferReduce, kReduceConstraints},
    {"reduce_sum_grad", "Out@GRAD, X -> X@GRAD?", kReduceSumAttributes, kPure, inferGradients},
    {"reduce_mean", "X -> Out", kReduceSumAttributes, kPure, inferReduce, kReduceConstraints},
    {"reduce_mean_grad", "Out@GRAD, X -> X@GRAD?", kReduceSumAttributes, kPure, inferGradients},
    {"reduce_max", "X -> Out", kReduceSumAttributes, kPure, inferReduce, kReduceConstraints},
    {"reduce_max_grad", "Out, Out@GRAD, X -> X@GRAD?", kReduceSumAttributes, kPure, inferGradients},
    {"reduce_min", "X -> Out", kReduceSumAttributes, kPure, inferReduce, kReduceConstraints},
    {"reduce_min_grad", "Out, Out@GRAD, X -> X@GRAD?", kReduceSumAttributes, kPure, inferGradients},
    {"reduce_amax", "X, AxisTensor?, AxisTensorList* -> Out", kReduceAllAttributes, kPure,
     inferReduce, kReduceConstraints},
    {"reduce_amax_grad", "Out, Out@GRAD, X, AxisTensor?, AxisTensorList* -> X@GRAD?",
     kReduceAllAttributes, kPure, inferGradients},
    {"reduce_amin", "X, AxisTensor?, AxisTensorList* -> Out", kReduceAllAttributes, kPure,
     inferReduce, kReduceConstraints},
    {"reduce_amin_grad", "Out, Out@GRAD, X, AxisTensor?, AxisTensorList* -> X@GRAD?",
     kReduceAllAttributes, kPure, inferGradients},
    {"reduce_prod", "X -> Out", kReduceSumAttributes, kPure, inferReduce, kReduceConstraints},
    {"reduce_prod_grad", "Out, Out@GRAD, X -> X@GRAD?", kReduceSumAttributes, kPure,
     inferGradients},
    {"reduce_all", "X, AxisTensor?, AxisTensorList* -> Out", kReduceAllAttributes, kPure,
     inferReduceTest, kReduceConstraints},
    {"reduce_any", "X, AxisTensor?, AxisTensorList* -> Out", kReduceAllAttributes, kPure,
     inferReduceTest, kReduceConstraints},
    {"mean", "X -> Out", "", kPure, inferMean},
    {"mean_grad", "Out@GRAD, X -> X@GRAD?", "", kPure, inferGradients},
    {"logsumexp", "X -> Out", kLogsumexpAttributes, kPure, inferLogSumExp},
    {"logsumexp_grad", "Out?, Out@GRAD, X? -> X@GRAD?", kLogsumexpAttributes, kPure,
     inferGradients},
    {"cumsum", "X -> Out", kCumsumAttributes, kPure, inferCumulative, kAxis<"X", "axis">},
    {"cumsum_grad", "Out@GRAD, X? -> X@GRAD?", kCumsumAttributes, kPure, inferGradients},
    {"logcumsumexp", "X -> Out", kCumsumAttributes, kPure, inferCumulative, kAxis<"X", "axis">},
    {"logcumsumexp_grad", "Out, Out@GRAD, X -> X@GRAD?", kCumsumAttributes, kPure, inferGradients},
    {"cumprod", "X -> Out", "dim:i", kPure, inferSame<"X", "Out">},
    {"cumprod_grad", "Out?, Out@GRAD, X? -> X@GRAD?", "dim:i", kPure, inferGradients},
    {"cummax", "x -> out, indices", "axis:i=-1, dtype:i=3", kPure, inferCumulativeExtreme,
     kAxis<"x", "axis">},
    {"cummax_grad", "x, indices, out@GRAD -> x@GRAD?", "axis:i=-1, dtype:i=3", kPure,
     inferSame<"x", "x@GRAD">},
    {"cummin", "x -> out, indices", "axis:i=-1, dtype:i=3", kPure, inferCumulativeExtreme,
     kAxis<"x", "axis">},
    {"cummin_grad", "x, indices, out@GRAD -> x@GRAD?", "axis:i=-1, dtype:i=3", kPure,
     inferSame<"x", "x@GRAD">},
    {"arg_max", "X -> Out", kArgMaxAttributes, kPure, inferArgExtreme, kAxis<"X", "axis">},
    {"arg_min", "X -> Out", kArgMaxAttributes, kPure, inferArgExtreme, kAxis<"X", "axis">},
    {"argsort", "X -> Out, Indices", "axis:i=-1, descending:b=false", kPure, inferArgsort,
     kAxis<"X", "axis">},
    {"argsort_grad", "Indices?, Out@GRAD, X? -> X@GRAD?", "axis:i=-1, descending:b=false", kPure,
     inferGradients},
    {"top_k", "X, K? -> Out, Indices", "k:i=1", kPure, inferTopK, kTopKConstraints},
    {"top_k_grad", "Indices?, K?, Out@GRAD, X? -> X@GRAD?", "k:i=1", kPure, inferGradients},
    {"top_k_v2", "X, K? -> Out, Indices", kTopKV2Attributes, kPure, inferTopK, kTopKConstraints},
    {"top_k_v2_grad", "Indices?, K?, Out@GRAD, X? -> X@GRAD?", kTopKV2Attributes, kPure,
     inferGradients},
    {"kthvalue", "X -> Out, Indices", "k:i=1, axis:i=-1, keepdim:b=false", kPure, inferPicked},
    {"kthvalue_grad", "Indices?, Out@GRAD, X? -> X@GRAD?", "k:i=1, axis:i=-1, keepdim:b=false",
     kPure, inferGradients},
    {"mode", "X -> Out, Indices", "axis:i=-1, keepdim:b=false", kPure, inferPicked},
    {"mode_grad", "Indices?, Out@GRAD, X? -> X@GRAD?", "axis:i=-1, keepdim:b=false", kPure,
     inferGradients},
    {"nanmedian", "X -> Out, MedianIndex", "axis:is={}, keepdim:b=true", kPure, inferNanMedian},
    {"nanmedian_grad", "X, MedianIndex, Out@GRAD -> X@GRAD?", "axis:is={}, keepdim:b=true", kPure,
     inferGradients},
    {"bincount", "X, Weights? -> Out", "minlength:i=0", kPure, inferBinCount},
    {"histogram", "X -> Out", "bins:l=100, min:i=0, max:i=0", kPure, inferHistogram},
    {"unique", "X -> Out, Index, Indices?, Counts?",
     "dtype:i=3, return_index:b=false, return_inverse:b=false, return_counts:b=false, axis:is={}, "
     "is_sorted:b=false",
     kPure, inferUnique},
    {"unique_with_counts", "X -> Out, Index, Count", "dtype:i", kPure, inferUnique},
    {"unique_consecutive", "X -> Out, Index?, Counts?",
     "return_inverse:b=false@1, return_counts:b=false@1, axis:is={}@1, dtype:i=5", kPure,
     inferUnique},
    {"searchsorted", "SortedSequence, Values -> Out", "out_int32:b=false, right:b=false", kPure,
     inferSearchSorted},
};

}  // namespace

Family reductionFamily() { return {"reduction", kRows}; }

}  // namespace dtranspile::pd
