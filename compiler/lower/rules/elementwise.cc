// Lowering rules: family `elementwise`. An output that is broadcast gets the sum (formula.h).
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

llvm::LogicalResult lowerSum(OpLowering& op) {
  OpLowering::Bindings bindings;
  std::string text = "Out = ";
  for (unsigned i = 0; i < op.op().inputCount("X"); ++i) {
    auto tensor = op.in("X", i);
    if (!tensor) continue;
    const std::string name = "x" + std::to_string(bindings.tensors.size());
    text += (bindings.tensors.empty() ? "" : " + ") + name;
    bindings.tensors.emplace_back(name, *tensor);
  }
  return bindings.tensors.empty() ? op.unsupported("a sum of nothing") : op.formula(text, bindings);
}

const LoweringRule kRules[] = {
    {"elementwise_add", Inner::None, "Out = X + Y"},
    {"elementwise_add_grad", Inner::None, "X@GRAD = Out@GRAD; Y@GRAD = Out@GRAD"},
    {"elementwise_sub", Inner::None, "Out = X - Y"},
    {"elementwise_sub_grad", Inner::None, "X@GRAD = Out@GRAD; Y@GRAD = -Out@GRAD"},
    formulaRule("elementwise_mul", Inner::None, "Out = X * Y", "dt_multiply_rows(X, Y) -> Out"),
    {"elementwise_mul_grad", Inner::None, "X@GRAD = Out@GRAD * Y; Y@GRAD = Out@GRAD * X"},
    {"elementwise_div", Inner::None, "Out = X / Y"},
    {"elementwise_div_grad", Inner::None, "X@GRAD = Out@GRAD / Y; Y@GRAD = -Out@GRAD * Out / Y"},
    {"elementwise_max", Inner::None, "Out = max(X, Y)"},
    {"elementwise_max_grad", Inner::None, "X@GRAD = X > Y ? Out@GRAD : 0; Y@GRAD = X <= Y ? Out@GRAD : 0"},
    {"elementwise_min", Inner::None, "Out = min(X, Y)"},
    {"elementwise_min_grad", Inner::None, "X@GRAD = X < Y ? Out@GRAD : 0; Y@GRAD = X >= Y ? Out@GRAD : 0"},
    {"elementwise_pow", Inner::None, "Out = pow(X, Y)"},
    {"elementwise_pow_grad", Inner::None, "X@GRAD = Out@GRAD * Y * pow(X, Y - 1); Y@GRAD = Out@GRAD * log(X) * pow(X, Y)"},
    {"elementwise_mod", Inner::None, "m = rem(X, Y); Out = !legacy && m != 0 && (m < 0) != (Y < 0) ? m + Y : m"},
    {"elementwise_floordiv", Inner::None, "Out = legacy ? X / Y : floordiv(X, Y)"},
    {"grad_add", Inner::None, "Out = X + Y"},
    {"minus", Inner::None, "Out = X - Y"},
    lowerRule("sum", lowerSum, "dt_sum_rows(X) -> Out"),
    formulaRule("scale", Inner::None, "s = or(ScaleTensor, scale); Out = bias_after_scale ? X * s + bias : (X + bias) * s",
                "dt_scale_rows(X; scale, bias, bias_after_scale) -> Out"),
    {"cast", Inner::None, "Out = X"},
    {"increment", Inner::None, "Out = X + step"},
    {"pow", Inner::None, "Out = pow(X, or(FactorTensor, factor))"},
    {"pow_grad", Inner::None, "f = or(FactorTensor, factor); X@GRAD = Out@GRAD * f * pow(X, f - 1)"},
    {"clip", Inner::None, "Out = min(max(X, or(Min, min)), or(Max, max))"},
    {"clip_grad", Inner::None, "X@GRAD = X > or(Min, min) && X < or(Max, max) ? Out@GRAD : 0"},
    formulaRule("clip_by_norm", Inner::All, "n = sqrt(sum(X * X)); Out = n > max_norm ? X * (max_norm / n) : X",
                "dt_clip_rows_by_norm(X; max_norm) -> Out"),
};

}  // namespace

RuleTable elementwiseRules() { return kRules; }

}  // namespace dtranspile::lower
