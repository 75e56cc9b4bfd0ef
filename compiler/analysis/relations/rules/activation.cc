// Relation rules: family `activation`. Notation: rule.h.
#include "compiler/analysis/relations/kinds.h"
#include "compiler/analysis/relations/rules/families.h"

namespace dtranspile::verify {
namespace {

const RuleRow kRows[] = {
    {"relu", pointwise, "X:h -> Out"},
    {"relu_grad", pointwise, "Out@GRAD:l, Out:m -> X@GRAD"},
    {"leaky_relu", pointwise, "X:h -> Out", "alpha"},
    {"leaky_relu_grad", pointwise, "Out@GRAD:l, X:m, Out:m -> X@GRAD", "alpha"},
    {"relu6", pointwise, "X -> Out", "threshold"},
    {"relu6_grad", pointwise, "Out@GRAD:l, Out -> X@GRAD", "threshold"},
    {"sigmoid", pointwise, "X -> Out"},
    {"sigmoid_grad", pointwise, "Out@GRAD:l, Out -> X@GRAD"},
    {"tanh", pointwise, "X -> Out"},
    {"tanh_grad", pointwise, "Out@GRAD:l, Out -> X@GRAD"},
    {"gelu", pointwise, "X -> Out", "approximate"},
    {"gelu_grad", pointwise, "Out@GRAD:l, X -> X@GRAD", "approximate"},
    {"elu", pointwise, "X -> Out", "alpha"},
    {"elu_grad", pointwise, "Out@GRAD:l, X, Out -> X@GRAD", "alpha"},
    {"swish", pointwise, "X -> Out", "beta"},
    {"swish_grad", pointwise, "Out@GRAD:l, X -> X@GRAD", "beta"},
    {"silu", pointwise, "X -> Out"},
    {"silu_grad", pointwise, "Out@GRAD:l, X, Out -> X@GRAD"},
    {"hard_swish", pointwise, "X -> Out", "threshold, scale, offset"},
    {"hard_swish_grad", pointwise, "Out@GRAD:l, X -> X@GRAD", "threshold, scale, offset"},
    {"hard_sigmoid", pointwise, "X -> Out", "slope, offset"},
    {"hard_sigmoid_grad", pointwise, "Out@GRAD:l, Out -> X@GRAD", "slope, offset"},
    {"softplus", pointwise, "X -> Out", "beta, threshold"},
    {"softplus_grad", pointwise, "Out@GRAD:l, X -> X@GRAD", "beta, threshold"},
    {"softsign", pointwise, "X -> Out"},
    {"softsign_grad", pointwise, "Out@GRAD:l, X -> X@GRAD"},
    {"logsigmoid", pointwise, "X -> Out"},
    {"logsigmoid_grad", pointwise, "Out@GRAD:l, X -> X@GRAD"},
    {"exp", pointwise, "X -> Out"},
    {"exp_grad", pointwise, "Out@GRAD:l, Out -> X@GRAD"},
    {"log", pointwise, "X -> Out"},
    {"log_grad", pointwise, "Out@GRAD:l, X -> X@GRAD"},
    {"sqrt", pointwise, "X -> Out"},
    {"sqrt_grad", pointwise, "Out@GRAD:l, Out -> X@GRAD"},
    {"rsqrt", pointwise, "X -> Out"},
    {"rsqrt_grad", pointwise, "Out@GRAD:l, Out -> X@GRAD"},
    {"square", pointwise, "X -> Out"},
    {"square_grad", pointwise, "Out@GRAD:l, X:l -> X@GRAD"},
    {"reciprocal", pointwise, "X -> Out"},
    {"reciprocal_grad", pointwise, "Out@GRAD:l, Out -> X@GRAD"},
    {"abs", pointwise, "X:h -> Out"},
    {"abs_grad", pointwise, "Out@GRAD:l, X:m -> X@GRAD"},
    {"sin", pointwise, "X -> Out"},
    {"sin_grad", pointwise, "Out@GRAD:l, X -> X@GRAD"},
    {"cos", pointwise, "X -> Out"},
    {"cos_grad", pointwise, "Out@GRAD:l, X -> X@GRAD"},
    {"erf", pointwise, "X -> Out"},
    {"erf_grad", pointwise, "Out@GRAD:l, X -> X@GRAD"},
    {"floor", pointwise, "X -> Out"},
    {"floor_grad", pointwise, "Out@GRAD:l -> X@GRAD"},
    {"ceil", pointwise, "X -> Out"},
    {"ceil_grad", pointwise, "Out@GRAD:l -> X@GRAD"},
    {"round", pointwise, "X -> Out"},
    {"round_grad", pointwise, "Out@GRAD:l -> X@GRAD"},
    {"sign", pointwise, "X:m -> Out"},
    {"softmax", rowwise, "X -> Out", "axis, data_format, is_test"},
    {"softmax_grad", rowwise, "Out@GRAD:l, Out -> X@GRAD", "axis, data_format, is_test"},
    {"log_softmax", rowwise, "X -> Out", "axis"},
    {"log_softmax_grad", rowwise, "Out@GRAD:l, Out -> X@GRAD", "axis"},
};

}  // namespace

llvm::ArrayRef<RuleRow> activationRules() { return kRows; }

}  // namespace dtranspile::verify
