// Rows of the PIR table: reductions, products, rankings. Notation: op_mapping.h.
#include "compiler/import/pir/op_mapping.h"

namespace dtranspile::pir {
namespace {

const PirRow kRows[] = {
    {"mean", "reduce_mean", "X, #dim? -> Out", "axis>dim, keepdim>keep_dim"},
    {"mean_grad", "reduce_mean_grad", "X, Out@GRAD, #dim? -> X@GRAD", "axis>dim, keepdim>keep_dim"},
    {"sum", "reduce_sum", "X, #dim -> Out", "keepdim>keep_dim, dtype>out_dtype"},
    {"sum_grad", "reduce_sum_grad", "X, Out@GRAD, #dim -> X@GRAD", "keepdim>keep_dim"},
    {"max", "reduce_max", "X, #dim -> Out", "keepdim>keep_dim"},
    {"max_grad", "reduce_max_grad", "X, Out, Out@GRAD, #dim -> X@GRAD", "keepdim>keep_dim"},
    {"min", "reduce_min", "X, #dim -> Out", "keepdim>keep_dim"},
    {"min_grad", "reduce_min_grad", "X, Out, Out@GRAD, #dim -> X@GRAD", "keepdim>keep_dim"},
    {"add_n", "sum", "X* -> Out"},
    {"add_n_with_kernel", "sum", "X* -> Out"},
    {"squared_l2_norm", "squared_l2_norm", "X -> Out"},
    {"clip_by_norm", "clip_by_norm", "X -> Out"},
    {"matmul", "matmul_v2", "X, Y -> Out", "transpose_x>trans_x, transpose_y>trans_y"},
    {"matmul_grad", "matmul_v2_grad", "X, Y, Out@GRAD -> X@GRAD, Y@GRAD",
     "transpose_x>trans_x, transpose_y>trans_y"},
    {"bmm", "bmm", "X, Y -> Out"},
    {"bmm_grad", "bmm_grad", "X, Y, Out@GRAD -> X@GRAD, Y@GRAD"},
    {"topk", "top_k_v2", "X, #k|K -> Out, Indices"},
    {"argmax", "arg_max", "X, #axis -> Out"},
    {"argmin", "arg_min", "X, #axis -> Out"},
    {"accuracy", "accuracy", "Out, Indices, Label -> Accuracy, Correct, Total"},
    {"all", "reduce_all", "X -> Out", "axis>dim, keepdim>keep_dim"},
    {"any", "reduce_any", "X -> Out", "axis>dim, keepdim>keep_dim"},
    {"prod", "reduce_prod", "X, #dim -> Out", "keepdim>keep_dim"},
    {"prod_grad", "reduce_prod_grad", "X, Out, Out@GRAD, #dim -> X@GRAD", "keepdim>keep_dim"},
    {"logsumexp", "logsumexp", "X -> Out"},
    {"logsumexp_grad", "logsumexp_grad", "X, Out, Out@GRAD -> X@GRAD"},
    {"p_norm", "p_norm", "X -> Out"},
    {"p_norm_grad", "p_norm_grad", "X, Out, Out@GRAD -> X@GRAD"},
    {"frobenius_norm", "frobenius_norm", "X, #dim -> Out"},
    {"frobenius_norm_grad", "frobenius_norm_grad", "X, Out, Out@GRAD, #dim -> X@GRAD"},
    {"mean_all", "mean", "X -> Out"},
    {"mean_all_grad", "mean_grad", "X, Out@GRAD -> X@GRAD"},
    {"argsort", "argsort", "X -> Out, Indices", "-stable"},
    {"argsort_grad", "argsort_grad", "Indices, X, Out@GRAD -> X@GRAD", "-stable"},
    {"kthvalue", "kthvalue", "X -> Out, Indices"},
    {"kthvalue_grad", "kthvalue_grad", "X, Indices, Out@GRAD -> X@GRAD"},
    {"mode", "mode", "X -> Out, Indices"},
    {"mode_grad", "mode_grad", "X, Indices, Out@GRAD -> X@GRAD"},
    {"topk_grad", "top_k_v2_grad", "X, Indices, Out@GRAD, #k|K -> X@GRAD"},
    {"nonzero", "where_index", "Condition -> Out"},
    {"numel", "size", "Input -> Out"},
    {"histogram", "histogram", "X -> Out"},
    {"trace", "trace", "Input -> Out"},
    {"trace_grad", "trace_grad", "Input, Out@GRAD -> Input@GRAD"},
    {"is_empty", "is_empty", "X -> Out"},
    {"searchsorted", "searchsorted", "SortedSequence, Values -> Out"},
};

}  // namespace

llvm::ArrayRef<PirRow> reductionRows() { return kRows; }

}  // namespace dtranspile::pir
