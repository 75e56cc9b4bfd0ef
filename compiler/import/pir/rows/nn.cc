// Rows of the PIR table: layers with parameters and losses. Notation: table.h.
#include "compiler/import/pir/table.h"

namespace dtranspile::pir {
namespace {

constexpr const char* kBatchNorm = "X, Mean, Variance, Scale?, Bias? -> Y, MeanOut=Mean, VarianceOut=Variance, SavedMean, SavedVariance, ReserveSpace?";

const PirRow kRows[] = {
    {"embedding", "lookup_table_v2", "Ids, W -> Out", "sparse>is_sparse"},
    {"embedding_grad", "lookup_table_v2_grad", "Ids, W, Out@GRAD -> W@GRAD", "sparse>is_sparse"},
    {"embedding_sparse_grad", "lookup_table_v2_grad", "Ids, W, Out@GRAD -> W@GRAD", "sparse>is_sparse, +is_sparse=true"},
    {"conv2d", "conv2d", "Input, Filter -> Output"},
    {"conv2d_grad", "conv2d_grad", "Input, Filter, Output@GRAD -> Input@GRAD, Filter@GRAD"},
    {"depthwise_conv2d", "depthwise_conv2d", "Input, Filter -> Output"},
    {"depthwise_conv2d_grad", "depthwise_conv2d_grad", "Input, Filter, Output@GRAD -> Input@GRAD, Filter@GRAD"},
    {"pool2d", "pool2d", "X, #ksize -> Out"},
    {"pool2d_grad", "pool2d_grad", "X, Out, Out@GRAD, #ksize -> X@GRAD"},
    {"layer_norm", "layer_norm", "X, Scale?, Bias? -> Y, Mean, Variance"},
    {"layer_norm_grad", "layer_norm_grad", "X, Scale?, Bias?, Mean, Variance, Y@GRAD -> X@GRAD, Scale@GRAD, Bias@GRAD"},
    {"batch_norm", "batch_norm", kBatchNorm, "data_format>data_layout"},
    {"batch_norm_", "batch_norm", kBatchNorm, "data_format>data_layout"},
    {"batch_norm_grad", "batch_norm_grad",
     "X, Scale?, Bias?, MeanOut?, VarianceOut?, SavedMean, SavedVariance, ReserveSpace?, Y@GRAD -> X@GRAD, Scale@GRAD, Bias@GRAD",
     "data_format>data_layout"},
    {"cross_entropy_with_softmax", "softmax_with_cross_entropy", "Logits, Label -> Softmax, Loss"},
    {"cross_entropy_with_softmax_grad", "softmax_with_cross_entropy_grad", "Label, Softmax, Loss@GRAD -> Logits@GRAD"},
    {"bce_loss", "bce_loss", "X, Label -> Out"},
    {"bce_loss_grad", "bce_loss_grad", "X, Label, Out@GRAD -> X@GRAD"},
    {"sigmoid_cross_entropy_with_logits", "sigmoid_cross_entropy_with_logits", "X, Label, pos_weight? -> Out"},
    {"sigmoid_cross_entropy_with_logits_grad", "sigmoid_cross_entropy_with_logits_grad", "X, Label, pos_weight?, Out@GRAD -> X@GRAD"},
    {"huber_loss", "huber_loss", "X, Y -> Out, Residual"},
    {"huber_loss_grad", "huber_loss_grad", "Residual, Out@GRAD -> X@GRAD, Y@GRAD"},
    {"label_smooth", "label_smooth", "X, PriorDist? -> Out"},
};

}  // namespace

llvm::ArrayRef<PirRow> nnRows() { return kRows; }

}  // namespace dtranspile::pir
