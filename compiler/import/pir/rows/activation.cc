// Rows of the PIR table: functions of one tensor, element by element, and softmax. Notation: table.h.
#include "compiler/import/pir/table.h"

namespace dtranspile::pir {
namespace {

const PirRow kRows[] = {
    // Gradients from the operand.
    {"abs", "abs", "X -> Out"},
    {"abs_grad", "abs_grad", "X, Out@GRAD -> X@GRAD"},
    {"cos", "cos", "X -> Out"},
    {"cos_grad", "cos_grad", "X, Out@GRAD -> X@GRAD"},
    {"sin", "sin", "X -> Out"},
    {"sin_grad", "sin_grad", "X, Out@GRAD -> X@GRAD"},
    {"log", "log", "X -> Out"},
    {"log_grad", "log_grad", "X, Out@GRAD -> X@GRAD"},
    {"square", "square", "X -> Out"},
    {"square_grad", "square_grad", "X, Out@GRAD -> X@GRAD"},
    {"silu", "silu", "X -> Out"},
    {"silu_grad", "silu_grad", "X, Out, Out@GRAD -> X@GRAD"},
    {"erf", "erf", "X -> Out"},
    {"erf_grad", "erf_grad", "X, Out@GRAD -> X@GRAD"},
    {"gelu", "gelu", "X -> Out"},
    {"gelu_grad", "gelu_grad", "X, Out@GRAD -> X@GRAD"},
    {"leaky_relu", "leaky_relu", "X -> Out", "negative_slope>alpha"},
    {"leaky_relu_grad", "leaky_relu_grad", "X, Out@GRAD -> X@GRAD", "negative_slope>alpha"},
    {"elu", "elu", "X -> Out"},
    {"softplus", "softplus", "X -> Out"},
    {"softplus_grad", "softplus_grad", "X, Out@GRAD -> X@GRAD"},
    {"softsign", "softsign", "X -> Out"},
    {"softsign_grad", "softsign_grad", "X, Out@GRAD -> X@GRAD"},
    {"pow", "pow", "X -> Out", "y>factor"},
    {"pow_grad", "pow_grad", "X, Out@GRAD -> X@GRAD", "y>factor"},
    {"clip", "clip", "X, #min|Min, #max|Max -> Out"},
    {"clip_grad", "clip_grad", "X, Out@GRAD, #min|Min, #max|Max -> X@GRAD"},
    {"scale", "scale", "X, #scale|ScaleTensor -> Out"},
    {"scale_", "scale", "X, #scale|ScaleTensor -> Out=X"},
    {"increment", "increment", "X -> Out", "value>step"},
    {"increment_", "increment", "X -> Out=X", "value>step"},
    {"floor", "floor", "X -> Out"},
    {"ceil", "ceil", "X -> Out"},
    {"round", "round", "X -> Out", "decimals=0"},
    {"sign", "sign", "X -> Out"},
    // Gradients from the result.
    {"relu", "relu", "X -> Out"},
    {"relu_", "relu", "X -> Out=X"},
    {"relu_grad", "relu_grad", "Out, Out@GRAD -> X@GRAD"},
    {"relu6", "relu6", "X -> Out", "+threshold=6"},
    {"relu6_grad", "relu6_grad", "Out, Out@GRAD -> X@GRAD", "+threshold=6"},
    {"sigmoid", "sigmoid", "X -> Out"},
    {"sigmoid_grad", "sigmoid_grad", "Out, Out@GRAD -> X@GRAD"},
    {"tanh", "tanh", "X -> Out"},
    {"tanh_grad", "tanh_grad", "Out, Out@GRAD -> X@GRAD"},
    {"exp", "exp", "X -> Out"},
    {"exp_grad", "exp_grad", "Out, Out@GRAD -> X@GRAD"},
    {"sqrt", "sqrt", "X -> Out"},
    {"sqrt_grad", "sqrt_grad", "Out, Out@GRAD -> X@GRAD"},
    {"rsqrt", "rsqrt", "X -> Out"},
    {"rsqrt_grad", "rsqrt_grad", "Out, Out@GRAD -> X@GRAD"},
    {"reciprocal", "reciprocal", "X -> Out"},
    {"reciprocal_grad", "reciprocal_grad", "Out, Out@GRAD -> X@GRAD"},
    // Along an axis.
    {"softmax", "softmax", "X -> Out"},
    {"softmax_grad", "softmax_grad", "Out, Out@GRAD -> X@GRAD"},
    {"log_softmax", "log_softmax", "X -> Out"},
    {"log_softmax_grad", "log_softmax_grad", "Out, Out@GRAD -> X@GRAD"},
};

}  // namespace

llvm::ArrayRef<PirRow> activationRows() { return kRows; }

}  // namespace dtranspile::pir
