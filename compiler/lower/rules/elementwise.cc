// Lowering rules: family `elementwise`. An output that is broadcast gets the sum (formula.h).
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

using llvm::LogicalResult;

// The sum of some tensors, as the tensor of that name where one is given, else as Out.
LogicalResult addUp(OpLowering& op, const std::vector<TensorRef>& terms,
                    const std::optional<TensorRef>& partial) {
  OpLowering::Bindings bindings;
  std::string text;
  for (const TensorRef& term : terms) {
    const std::string name = "x" + std::to_string(bindings.tensors.size());
    text += (text.empty() ? "" : " + ") + name;
    bindings.tensors.emplace_back(name, term);
  }
  if (partial) bindings.tensors.emplace_back("partial", *partial);
  return op.formula((partial ? "partial = " : "Out = ") + text, bindings);
}

// From left to right, in kernels of a few terms each: a sum of thousands is as many kernels as it
// has such pieces, all but the ends of one text. Between them half precision is kept as float32, as
// within one kernel.
LogicalResult lowerSum(OpLowering& op) {
  constexpr size_t kMostTerms = 15;
  auto out = op.out("Out");
  if (!out) return llvm::success();
  std::vector<TensorRef> terms;
  for (mlir::Value value : op.op().inputs("X")) {
    if (!value) continue;
    if (terms.size() == kMostTerms) {
      const bool half = out->dtype == DType::kFloat16 || out->dtype == DType::kBFloat16;
      const TensorRef partial =
          op.temporary("partial", half ? DType::kFloat32 : out->dtype, out->dims);
      if (failed(addUp(op, terms, partial))) return llvm::failure();
      terms.assign(1, partial);
    }
    terms.push_back(op.in(value));
  }
  return terms.empty() ? op.unsupported("a sum of nothing") : addUp(op, terms, std::nullopt);
}

// The function of a name in `functor_list`, of the text of its argument; empty for others.
std::string unaryText(llvm::StringRef name, const std::string& argument) {
  if (name == "relu") return "max(" + argument + ", 0)";
  if (name == "tanh" || name == "sigmoid") return name.str() + "(" + argument + ")";
  if (name == "scale") return "(" + argument + ") * scale";
  return "";
}

std::string binaryText(llvm::StringRef name, const std::string& x, const std::string& y) {
  if (name == "elementwise_add") return "(" + x + " + " + y + ")";
  if (name == "elementwise_mul") return "(" + x + " * " + y + ")";
  return "";
}

// functor_list [binary, unary]: X with the unary of Y; [unary, binary]: the unary of X with Y. The
// inner value is IntermediateOut where it is saved.
LogicalResult lowerFusedActivation(OpLowering& op) {
  const std::vector<std::string> functors = op.op().getStrings("functor_list");
  if (functors.size() != 2)
    return op.unsupported("a functor_list of " + llvm::Twine(functors.size()));
  const bool binaryFirst = llvm::StringRef(functors[0]).starts_with("elementwise_");
  const std::string inner =
      binaryFirst ? unaryText(functors[1], "Y") : binaryText(functors[1], "X", "Y");
  const std::string outer =
      binaryFirst ? binaryText(functors[0], "X", "v") : unaryText(functors[0], "v");
  if (inner.empty() || outer.empty())
    return op.unsupported("functor_list [" + functors[0] + ", " + functors[1] + "]");
  OpLowering::Bindings bindings;
  if (const int64_t axis = op.op().getInt("axis"); axis >= 0)
    bindings.axes.emplace_back("Y", static_cast<int>(axis));
  return op.formula("v = " + inner + "; Out = " + outer +
                        (op.op().getBool("save_intermediate_out") ? "; IntermediateOut = v" : ""),
                    bindings);
}

// Of integers in float64.
LogicalResult lowerAtan2(OpLowering& op) {
  auto x = op.in("X1");
  return op.formula(x && isFloat(scalarOf(x->dtype)) ? "Out = atan2(X1, X2)"
                                                     : "Out = atan2(double(X1), double(X2))");
}

const LoweringRule kRules[] = {
    {"elementwise_add", Inner::None, "Out = X + Y"},
    {"elementwise_add_grad", Inner::None, "X@GRAD = Out@GRAD; Y@GRAD = Out@GRAD"},
    {"elementwise_sub", Inner::None, "Out = X - Y"},
    {"elementwise_sub_grad", Inner::None, "X@GRAD = Out@GRAD; Y@GRAD = -Out@GRAD"},
    formulaRule("elementwise_mul", Inner::None, "Out = X * Y", "dt_multiply_rows"),
    {"elementwise_mul_grad", Inner::None, "X@GRAD = Out@GRAD * Y; Y@GRAD = Out@GRAD * X"},
    {"elementwise_div", Inner::None, "Out = X / Y"},
    {"elementwise_div_grad", Inner::None, "X@GRAD = Out@GRAD / Y; Y@GRAD = -Out@GRAD * Out / Y"},
    {"elementwise_max", Inner::None, "Out = X > Y ? X : Y"},
    {"elementwise_max_grad", Inner::None,
     "X@GRAD = X > Y ? Out@GRAD : 0; Y@GRAD = X <= Y ? Out@GRAD : 0"},
    {"elementwise_min", Inner::None, "Out = Y < X ? Y : X"},
    {"elementwise_min_grad", Inner::None,
     "X@GRAD = X < Y ? Out@GRAD : 0; Y@GRAD = X >= Y ? Out@GRAD : 0"},
    {"elementwise_pow", Inner::None, "Out = pow(X, Y)"},
    {"elementwise_pow_grad", Inner::None,
     "X@GRAD = Out@GRAD * Y * pow(X, Y - 1); Y@GRAD = Out@GRAD * log(X) * pow(X, Y)"},
    // NaN gives way to the other operand.
    {"elementwise_fmax", Inner::None, "Out = X >= Y || Y != Y ? X : Y"},
    {"elementwise_fmax_grad", Inner::None,
     "X@GRAD = X >= Y || Y != Y ? Out@GRAD : 0; Y@GRAD = X >= Y || Y != Y ? 0 : Out@GRAD"},
    {"elementwise_fmin", Inner::None, "Out = X <= Y || Y != Y ? X : Y"},
    {"elementwise_fmin_grad", Inner::None,
     "X@GRAD = X <= Y || Y != Y ? Out@GRAD : 0; Y@GRAD = X <= Y || Y != Y ? 0 : Out@GRAD"},
    {"elementwise_mul_grad_grad", Inner::None,
     "DDOut = or(DDX, 0) * Y + X * or(DDY, 0); X@GRAD = DOut * or(DDY, 0); Y@GRAD = DOut * or(DDX, "
     "0)"},
    {"elementwise_add_grad_grad", Inner::None, "DDOut = or(DDX, 0) + or(DDY, 0) + 0 * DOut"},
    {"elementwise_sub_grad_grad", Inner::None, "DDOut = or(DDX, 0) - or(DDY, 0) + 0 * DOut"},
    {"elementwise_div_grad_grad", Inner::None,
     "x = or(DDX, 0); y = or(DDY, 0); Y@GRAD = DX * (Out * y - x) / Y; DOut = -DX * y; DDOut = (x "
     "- "
     "Out * y) / Y"},
    // a, b and c flow into the gradients by X, by Y and by the gradient of the result.
    {"elementwise_add_triple_grad", Inner::None,
     "D_DDX = D_DDOut + 0 * DDX; D_DDY = D_DDOut + 0 * DDY"},
    {"elementwise_mul_triple_grad", Inner::None,
     "a = or(D_DX, 0); b = or(D_DY, 0); c = or(D_DDOut, 0); u = or(DDX, 0); v = or(DDY, 0); "
     "D_X = c * v; D_Y = c * u; D_DOut = a * v + b * u; D_DDX = b * DOut + c * Y; "
     "D_DDY = a * DOut + c * X"},
    {"elementwise_heaviside", Inner::None, "Out = X == 0 ? Y : X > 0 ? 1 : 0"},
    {"elementwise_heaviside_grad", Inner::None,
     "X@GRAD = Out@GRAD == Out@GRAD ? 0 : 0; Y@GRAD = X == 0 ? Out@GRAD : 0"},
    functionRule("atan2", lowerAtan2),
    {"atan2_grad", Inner::None,
     "n = Out@GRAD / (X1 * X1 + X2 * X2); X1@GRAD = X2 * n; X2@GRAD = -X1 * n"},
    {"lerp", Inner::None, "Out = X + Weight * (Y - X)"},
    {"lerp_grad", Inner::None, "X@GRAD = Out@GRAD * (1 - Weight); Y@GRAD = Out@GRAD * Weight"},
    functionRule("fused_elemwise_activation", lowerFusedActivation),
    {"elementwise_mod", Inner::None,
     "m = rem(X, Y); Out = !(legacy && whole) && m != 0 && (m < 0) != (Y < 0) ? m + Y : m"},
    {"elementwise_floordiv", Inner::None, "Out = legacy ? X / Y : floordiv(X, Y)"},
    {"grad_add", Inner::None, "Out = X + Y"},
    {"minus", Inner::None, "Out = X - Y"},
    lowerRule("sum", lowerSum, "dt_sum_rows"),
    formulaRule(
        "scale", Inner::None,
        "s = or(ScaleTensor, scale); k = whole ? int64(s) : s; b = whole ? int64(bias) : bias;"
        "Out = bias_after_scale ? X * k + b : (X + b) * k",
        "dt_scale_rows"),
    {"cast", Inner::None, "Out = X"},
    {"increment", Inner::None, "Out = X + step"},
    // An integer is raised to the whole part.
    {"pow", Inner::None, "f = or(FactorTensor, factor); Out = pow(X, whole ? int64(f) : f)"},
    {"pow_grad", Inner::None,
     "f = or(FactorTensor, factor); X@GRAD = Out@GRAD * f * pow(X, f - 1)"},
    formulaRule("clip", Inner::None, "Out = min(max(X, or(Min, min)), or(Max, max))",
                "dt_clip_rows"),
    {"clip_grad", Inner::None, "X@GRAD = X > or(Min, min) && X < or(Max, max) ? Out@GRAD : 0"},
    {"pow_double_grad", Inner::None,
     "d = grad_x@GRAD; f = or(FactorTensor, factor);"
     "X@GRAD = f == 0 || f == 1 ? 0 : or(grad_out, 0) * d * f * (f - 1) * pow(X, f - 2);"
     "grad_out@GRAD = f == 0 ? 0 : d * f * pow(X, f - 1)"},
    {"clip_double_grad", Inner::None,
     "grad_out@GRAD = X > or(Min, min) && X < or(Max, max) ? grad_x@GRAD : 0"},
    formulaRule("clip_by_norm", Inner::All,
                "n = sqrt(sum(X * X)); k = max_norm / n;"
                // 1.x has NaN of a norm of 0.
                "Out = n <= max_norm ? (legacy && !exact ? X + 0 * k : X) : X * k",
                "dt_clip_rows_by_norm"),
};

}  // namespace

RuleTable elementwiseRules() { return kRules; }

}  // namespace dtranspile::lower
