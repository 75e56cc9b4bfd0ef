// Lowering rules: family `activation`. Formulas and their edge cases: the framework's operator
// documentation; the gradients are their derivatives, in terms of what the gradient op is given
// (Out or X).
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

using llvm::LogicalResult;

// 1 of no extents: what stands before the first axis and after the last one.
int64_t product(llvm::ArrayRef<int64_t> dims) {
  int64_t count = 1;
  for (int64_t extent : dims) count *= extent;
  return count;
}

// Goodfellow 2013: the largest of `groups` neighbouring channels. `x` and `dx` are cut into [outer,
// channels, groups, inner] at `axis`, `y` and `dy` have one number for each group.
LogicalResult maxout(OpLowering& op, const char* text) {
  auto x = op.in("X");
  if (!x) return op.unsupported("an absent X");
  const int64_t groups = op.op().getInt("groups"), rank = static_cast<int64_t>(x->dims.size());
  int64_t axis = op.op().getInt("axis");
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank || groups < 1 || x->dims[axis] % groups != 0)
    return op.unsupported("axis " + llvm::Twine(axis) + " with " + llvm::Twine(groups) + " groups");
  const llvm::ArrayRef<int64_t> dims = x->dims;
  const std::vector<int64_t> cut = {product(dims.take_front(axis)), dims[axis] / groups, groups,
                                    product(dims.drop_front(axis + 1))};
  OpLowering::Bindings bindings;
  bindings.inner = [](const std::vector<int64_t>&) {
    return std::vector<bool>{false, false, true, false};
  };
  auto bind = [&](const char* name, std::optional<TensorRef> tensor, bool grouped) {
    if (!tensor) return;
    if (grouped) tensor->dims = cut;
    bindings.tensors.emplace_back(name, *tensor);
  };
  bind("x", x, true);
  bind("dx", op.out("X@GRAD"), true);
  bind("y", op.op().hasOutput("Out") ? op.out("Out") : op.in("Out"), false);
  bind("dy", op.in("Out@GRAD"), false);
  return op.formula(text, bindings);
}

LogicalResult lowerMaxout(OpLowering& op) { return maxout(op, "y[r] = max(x)"); }

// The first of equal elements gets the gradient.
LogicalResult lowerMaxoutGrad(OpLowering& op) {
  return maxout(op,
                "first = min(x == y[r] ? position : count); dx = position == first ? dy[r] : 0");
}

// He 2015. `a`, `da` are Alpha and its gradient, aligned as `mode` says: one number, one per
// channel, one per element of a sample.
LogicalResult prelu(OpLowering& op, const char* text) {
  auto x = op.in("X"), alpha = op.in("Alpha"), gradient = op.out("Alpha@GRAD");
  if (!x || !alpha) return op.unsupported("an absent input");
  const std::string mode = op.op().getString("mode"), format = op.op().getString("data_format");
  const llvm::ArrayRef<int64_t> dims = x->dims;
  const size_t channel =
      format == "NHWC" || format == "NLC" || format == "NDHWC" ? dims.size() - 1 : 1;
  std::vector<int64_t> own;
  int axis = -1;
  if (mode == "channel" && channel < dims.size()) own = {dims[axis = static_cast<int>(channel)]};
  else if (mode == "element" && !dims.empty()) own = dims.drop_front(axis = 1).vec();
  else if (mode != "all") return op.unsupported("mode '" + mode + "'");
  if (product(own) != alpha->elements())
    return op.unsupported("an Alpha of " + llvm::Twine(alpha->elements()) + " elements in mode '" +
                          mode + "'");
  OpLowering::Bindings bindings;
  bindings.tensors.emplace_back("a", TensorRef{alpha->buffer, alpha->dtype, own, axis});
  if (gradient)
    bindings.tensors.emplace_back("da", TensorRef{gradient->buffer, gradient->dtype, own, axis});
  return op.formula(text, bindings);
}

LogicalResult lowerPrelu(OpLowering& op) { return prelu(op, "Out = X > 0 ? X : a * X"); }
LogicalResult lowerPreluGrad(OpLowering& op) {
  return prelu(op, "X@GRAD = X > 0 ? Out@GRAD : a * Out@GRAD; da = X > 0 ? 0 : X * Out@GRAD");
}

// Xu et al. 2015: slopes are drawn; where it does not train, they are the mean of those.
LogicalResult lowerRrelu(OpLowering& op) {
  if (!op.op().getBool("is_test")) return op.callRow();
  const double mean = (op.op().getFloat("lower") + op.op().getFloat("upper")) / 2;
  return op.formula("n = X < 0 ? mean : 1; Noise = n; Out = X * n", {.numbers = {{"mean", mean}}});
}

const LoweringRule kRules[] = {
    // Gradients are in terms of Out where the framework gives them no X: of relu (Out > 0 just
    // where X > 0), sigmoid (s(1 − s)), tanh (1 − t²), exp, sqrt, rsqrt, reciprocal. `legacy` is a
    // program of 1.x; with `exact` the formula holds where the framework's own has NaN.
    {"relu", Inner::None, "Out = X > 0 ? X : 0"},
    {"relu_grad", Inner::None, "X@GRAD = Out > 0 ? Out@GRAD : 0"},
    {"sigmoid", Inner::None, "Out = sigmoid(X)"},
    {"sigmoid_grad", Inner::None, "X@GRAD = Out@GRAD * Out * (1 - Out)"},
    {"tanh", Inner::None, "Out = tanh(X)"},
    {"tanh_grad", Inner::None, "X@GRAD = Out@GRAD * (1 - Out * Out)"},
    // Gradients of gradients, linear in what flows into those (grad_x@GRAD).
    {"relu_grad_grad", Inner::None, "grad_out@GRAD = Out > 0 ? grad_x@GRAD : 0"},
    {"leaky_relu_grad_grad", Inner::None,
     "grad_out@GRAD = X > 0 ? grad_x@GRAD : alpha * grad_x@GRAD"},
    {"sigmoid_grad_grad", Inner::None,
     "d = grad_x@GRAD; Out@GRAD = (1 - 2 * Out) * fwd_grad_out * d; fwd_grad_out@GRAD = (1 - Out) "
     "* Out * d"},
    {"elu_grad_grad", Inner::None,
     "d = grad_x@GRAD; e = alpha * exp(min(X, 0)); X@GRAD = X > 0 ? 0 : d * grad_out * e; "
     "grad_out@GRAD = X > 0 ? d : d * e"},
    {"log_grad_grad", Inner::None,
     "d = grad_x@GRAD / X; X@GRAD = -grad_out * d / X; grad_out@GRAD = d"},
    {"sqrt_grad_grad", Inner::None,
     "d = grad_x@GRAD / Out; Out@GRAD = -grad_x * d; grad_out@GRAD = 0.5 * d"},
    {"rsqrt_grad_grad", Inner::None,
     "d = grad_x@GRAD; Out@GRAD = 3 * grad_x * d / Out; grad_out@GRAD = -0.5 * d * Out * Out * "
     "Out"},
    {"square_grad_grad", Inner::None,
     "d = 2 * grad_x@GRAD; X@GRAD = grad_out * d; grad_out@GRAD = X * d"},
    {"tanh_grad_grad", Inner::None,
     "d = or(grad_x@GRAD, 0); Out@GRAD = -2 * Out * or(grad_out, 0) * d; grad_out@GRAD = (1 - Out "
     "* Out) * d"},
    {"sin_double_grad", Inner::None,
     "d = grad_x@GRAD; X@GRAD = -sin(X) * or(grad_out, 0) * d; grad_out@GRAD = cos(X) * d"},
    {"cos_double_grad", Inner::None,
     "d = grad_x@GRAD; X@GRAD = -cos(X) * or(grad_out, 0) * d; grad_out@GRAD = -sin(X) * d"},
    // And of those: a flows into the gradient by the forward value, b into that by the gradient.
    {"tanh_triple_grad", Inner::None,
     "a = or(grad_out_new@GRAD, 0); b = or(grad_out_grad@GRAD, 0); g = grad_out_forward; d = "
     "grad_x_grad_forward; Out@GRAD = -2 * d * (g * a + Out * b); grad_out_forward@GRAD = -2 * Out "
     "* d * a; grad_x_grad_forward@GRAD = (1 - Out * Out) * b - 2 * Out * g * a"},
    {"sigmoid_triple_grad", Inner::None,
     "a = or(grad_out@GRAD, 0); b = or(grad_grad_out@GRAD, 0); g = fwd_grad_out; d = grad_grad_x; "
     "s = 1 - 2 * Out; Out@GRAD = d * (s * b - 2 * g * a); fwd_grad_out@GRAD = s * d * a; "
     "grad_grad_x@GRAD = s * g * a + Out * (1 - Out) * b"},
    {"sin_triple_grad", Inner::None,
     "a = or(grad_x@GRAD, 0); b = or(grad_out_grad@GRAD, 0); g = or(grad_out_forward, 0); d = "
     "or(grad_x_grad_forward, 0); X@GRAD = -d * (cos(X) * g * a + sin(X) * b); "
     "grad_out_forward@GRAD = -sin(X) * d * a; grad_x_grad_forward@GRAD = cos(X) * b - sin(X) * g "
     "* a"},
    {"cos_triple_grad", Inner::None,
     "a = or(grad_x@GRAD, 0); b = or(grad_out_grad@GRAD, 0); g = or(grad_out_forward, 0); d = "
     "or(grad_x_grad_forward, 0); X@GRAD = d * (sin(X) * g * a - cos(X) * b); "
     "grad_out_forward@GRAD = -cos(X) * d * a; grad_x_grad_forward@GRAD = -sin(X) * b - cos(X) * g "
     "* a"},
    {"softplus_double_grad", Inner::None,
     "d = grad_x@GRAD; s = sigmoid(beta * X); linear = beta * X > threshold;"
     "X@GRAD = linear ? 0 : or(grad_out, 0) * d * beta * s * (1 - s);"
     "grad_out@GRAD = linear ? d : d * s"},
    {"celu_grad_grad", Inner::None,
     "d = grad_x@GRAD; e = exp(min(X, 0) / alpha);"
     "X@GRAD = X > 0 ? 0 : or(grad_out, 0) * d / alpha * e; grad_out@GRAD = X > 0 ? d : d * e"},
    {"abs_double_grad", Inner::None, "grad_out@GRAD = grad_x@GRAD * sign(x)"},
    {"relu6", Inner::None, "Out = min(max(X, 0), threshold)"},
    {"relu6_grad", Inner::None, "X@GRAD = Out > 0 && Out < threshold ? Out@GRAD : 0"},
    {"brelu", Inner::None, "Out = min(max(X, t_min), t_max)"},
    {"brelu_grad", Inner::None, "X@GRAD = X > t_min && X < t_max ? Out@GRAD : 0"},
    {"leaky_relu", Inner::None, "Out = legacy ? max(X, alpha * X) : X > 0 ? X : alpha * X"},
    {"leaky_relu_grad", Inner::None,
     "v = or(X, Out);"
     "X@GRAD = Out@GRAD * (legacy ? (v > 0 ? 1 : alpha) : v < 0 ? alpha : v >= 0 ? 1 : 0)"},
    // Clevert 2015, Barron 2017 (celu), Klambauer 2017 (selu). expm1(x) = exp(x) − 1 without
    // cancellation near 0; 1 + 0·e is NaN where e is infinite, as the framework's sum of both
    // branches is.
    {"elu", Inner::None,
     "e = alpha * expm1(X); Out = legacy ? max(X, 0) + min(e, 0) : X > 0 ? X : e"},
    {"elu_grad", Inner::None,
     "e = alpha * exp(X);"
     "X@GRAD = X > 0 ? Out@GRAD * (legacy && !exact ? 1 + 0 * e : 1) : Out@GRAD * e"},
    {"celu", Inner::None, "Out = X > 0 ? X : alpha * expm1(X / alpha)"},
    {"celu_grad", Inner::None,
     "e = exp(X / alpha); X@GRAD = X > 0 ? Out@GRAD * (exact ? 1 : 1 + 0 * e) : Out@GRAD * e"},
    {"selu", Inner::None, "Out = scale * (X > 0 ? X : alpha * expm1(X))"},
    {"selu_grad", Inner::None,
     "X@GRAD = Out > 0 ? Out@GRAD * scale : Out@GRAD * (Out + float(scale * alpha))"},
    // Hendrycks, Gimpel 2016: x·Φ(x), with Φ by erf or by tanh(√(2/π)·(x + 0.044715·x³)); the
    // derivatives are Φ(x) + x·φ(x) and that of the approximation, whose inner derivative has
    // 3·0.044715 = 0.134145.
    {"gelu", Inner::None,
     "Out = approximate ? 0.5 * X * (1 + tanh(gelu_argument(X))) : 0.5 * X * (1 + erf(X * "
     "rsqrt_of_2()))"},
    {"gelu_grad", Inner::None,
     "t = tanh(gelu_argument(X));"
     "soft = 0.5 * (1 + t) + 0.5 * X * (1 - t * t) * sqrt_of_2_by_pi() * (1 + 0.134145 * X * X);"
     "exact = 0.5 * (1 + erf(X * rsqrt_of_2())) + X * exp(-0.5 * X * X) * rsqrt_of_2_pi();"
     "X@GRAD = Out@GRAD * (approximate ? soft : exact)"},
    // Ramachandran 2017: (x·s)' = s + βx·s(1 − s). Mish: Misra 2019; above the threshold softplus
    // is x to float32.
    {"swish", Inner::None, "Out = X * sigmoid(beta * X)"},
    {"swish_grad", Inner::None,
     "s = sigmoid(beta * X); X@GRAD = Out@GRAD * (s + beta * X * s * (1 - s))"},
    {"silu", Inner::None, "Out = X * sigmoid(X)"},
    {"silu_grad", Inner::None,
     "s = sigmoid(X); e = 1 + exp(-X);"
     "X@GRAD = Out@GRAD * s * (1 + X * (exact ? 1 - s : exp(-X) / e))"},
    {"mish", Inner::None, "Out = X * tanh(X > threshold ? X : log1p(exp(X)))"},
    {"mish_grad", Inner::None,
     "t = tanh(X > threshold ? X : log1p(exp(X))); X@GRAD = Out@GRAD * (t + X * (1 - t * t) * "
     "(X > threshold ? 1 - exp(-X) : sigmoid(X)))"},
    {"hard_swish", Inner::None,
     "o = legacy ? offset : 3; t = legacy ? threshold : 6; k = legacy ? scale : 6;"
     "Out = X * min(max(X + o, 0), t) / k"},
    {"hard_swish_grad", Inner::None,
     "o = legacy ? offset : 3; t = legacy ? threshold : 6; k = legacy ? scale : 6;"
     "X@GRAD = Out@GRAD * (X + o < t ? (X + o > 0 ? (2 * X + o) / k : 0) : 1)"},
    {"hard_sigmoid", Inner::None, "Out = min(max(slope * X + offset, 0), 1)"},
    {"hard_sigmoid_grad", Inner::None, "X@GRAD = Out > 0 && Out < 1 ? Out@GRAD * slope : 0"},
    {"hard_shrink", Inner::None,
     "above = X > threshold ? 1 : 0; below = X < -threshold ? 1 : 0;"
     "Out = X * (legacy ? above + below : max(above, below))"},
    {"hard_shrink_grad", Inner::None,
     "above = X > threshold ? 1 : 0; below = X < -threshold ? 1 : 0;"
     "X@GRAD = Out@GRAD * (legacy ? above + below : max(above, below))"},
    {"softplus", Inner::None, "Out = beta * X > threshold ? X : log1p(exp(beta * X)) / beta"},
    {"softplus_grad", Inner::None,
     "X@GRAD = beta * X > threshold ? Out@GRAD : Out@GRAD * sigmoid(beta * X)"},
    {"softsign", Inner::None, "Out = X / (1 + abs(X))"},
    {"softsign_grad", Inner::None, "X@GRAD = Out@GRAD / square(1 + abs(X))"},
    {"softshrink", Inner::None,
     "Out = (X > lambda ? 1 : 0) * (X - lambda) + (X < -lambda ? 1 : 0) * (X + lambda)"},
    {"softshrink_grad", Inner::None,
     "X@GRAD = Out@GRAD * ((X > lambda ? 1 : 0) + (X < -lambda ? 1 : 0))"},
    {"soft_relu", Inner::None, "Out = log1p(exp(min(max(X, -threshold), threshold)))"},
    {"soft_relu_grad", Inner::None,
     "X@GRAD = Out > -threshold && Out < threshold ? Out@GRAD * (1 - exp(-Out)) : 0"},
    {"stanh", Inner::None, "Out = scale_b * tanh(scale_a * X)"},
    {"stanh_grad", Inner::None,
     "t = tanh(scale_a * X); X@GRAD = Out@GRAD * scale_a * scale_b * (1 - t * t)"},
    {"tanh_shrink", Inner::None, "Out = X - tanh(X)"},
    {"tanh_shrink_grad", Inner::None, "X@GRAD = Out@GRAD * square(tanh(X))"},
    {"thresholded_relu", Inner::None, "Out = X * (X > threshold ? 1 : 0)"},
    {"thresholded_relu_grad", Inner::None, "X@GRAD = X > threshold ? Out@GRAD : 0"},
    {"logsigmoid", Inner::None, "Out = min(X, 0) - log1p(exp(-abs(X)))"},
    {"logsigmoid_grad", Inner::None, "X@GRAD = Out@GRAD * sigmoid(-X)"},
    // The maximum is taken off first, so that exp cannot overflow; `lowest` bounds what is left
    // from below where the framework does. Gradient: y·(dy − Σ y·dy), with the row's sum in one
    // pass.
    {"softmax", Inner::Axis, "m = max(X); Out = exp(max(X - m, lowest)); Out = Out / sum(Out)"},
    {"softmax_grad", Inner::Axis, "X@GRAD = Out * (Out@GRAD - sum(Out * Out@GRAD))"},
    {"fused_softmax_mask", Inner::Last,
     "z = X + Mask; m = max(z); e = exp(z - m); Out = e / sum(e)"},
    {"fused_softmax_mask_grad", Inner::Last,
     "X@GRAD = Softmax * (Out@GRAD - sum(Softmax * Out@GRAD))"},
    callRule("fused_softmax_mask_upper_triangle", "dt_causal_softmax"),
    {"fused_softmax_mask_upper_triangle_grad", Inner::Last,
     "X@GRAD = Out * (Out@GRAD - sum(Out * Out@GRAD))"},
    {"log_softmax", Inner::Axis, "m = max(X); s = max(X - m, lowest); Out = s - log(sum(exp(s)))"},
    {"log_softmax_grad", Inner::Axis, "X@GRAD = Out@GRAD - exp(Out) * sum(Out@GRAD)"},
    {"abs", Inner::None, "Out = abs(X)"},
    {"abs_grad", Inner::None, "X@GRAD = Out@GRAD * (sign(X) + (legacy ? 0 : X - X))"},
    {"exp", Inner::None, "Out = exp(X)"},
    {"exp_grad", Inner::None, "X@GRAD = Out@GRAD * Out"},
    {"expm1", Inner::None, "Out = expm1(X)"},
    {"expm1_grad", Inner::None, "X@GRAD = Out@GRAD * (Out + 1)"},
    {"log", Inner::None, "Out = log(X)"},
    {"log_grad", Inner::None, "X@GRAD = Out@GRAD / X"},
    {"log2", Inner::None, "Out = log2(X)"},
    {"log2_grad", Inner::None, "X@GRAD = Out@GRAD / (X * 0.69314718055994531)"},
    {"log10", Inner::None, "Out = log10(X)"},
    {"log10_grad", Inner::None, "X@GRAD = Out@GRAD / (X * 2.3025850929940457)"},
    {"log1p", Inner::None, "Out = log1p(X)"},
    {"log1p_grad", Inner::None, "X@GRAD = Out@GRAD / (X + 1)"},
    {"sqrt", Inner::None, "Out = sqrt(X)"},
    {"sqrt_grad", Inner::None, "X@GRAD = 0.5 * Out@GRAD / Out"},
    {"rsqrt", Inner::None, "Out = rsqrt(X)"},
    {"rsqrt_grad", Inner::None, "X@GRAD = -0.5 * Out@GRAD * Out * Out * Out"},
    {"square", Inner::None, "Out = X * X"},
    {"square_grad", Inner::None, "X@GRAD = Out@GRAD * 2 * X"},
    {"reciprocal", Inner::None, "Out = 1 / X"},
    {"reciprocal_grad", Inner::None, "X@GRAD = -Out@GRAD * Out * Out"},
    {"sin", Inner::None, "Out = sin(X)"},
    {"sin_grad", Inner::None, "X@GRAD = Out@GRAD * cos(X)"},
    {"cos", Inner::None, "Out = cos(X)"},
    {"cos_grad", Inner::None, "X@GRAD = -Out@GRAD * sin(X)"},
    {"tan", Inner::None, "Out = tan(X)"},
    {"tan_grad", Inner::None, "X@GRAD = Out@GRAD / square(cos(X))"},
    {"asin", Inner::None, "Out = asin(X)"},
    {"asin_grad", Inner::None, "X@GRAD = Out@GRAD / sqrt(1 - X * X)"},
    {"acos", Inner::None, "Out = acos(X)"},
    {"acos_grad", Inner::None, "X@GRAD = -Out@GRAD / sqrt(1 - X * X)"},
    {"atan", Inner::None, "Out = atan(X)"},
    {"atan_grad", Inner::None, "X@GRAD = Out@GRAD / (1 + X * X)"},
    {"sinh", Inner::None, "Out = sinh(X)"},
    {"sinh_grad", Inner::None, "X@GRAD = Out@GRAD * cosh(X)"},
    {"cosh", Inner::None, "Out = cosh(X)"},
    {"cosh_grad", Inner::None, "X@GRAD = Out@GRAD * sinh(X)"},
    {"asinh", Inner::None, "Out = asinh(X)"},
    {"asinh_grad", Inner::None, "X@GRAD = Out@GRAD / sqrt(X * X + 1)"},
    {"acosh", Inner::None, "Out = acosh(X)"},
    {"acosh_grad", Inner::None, "X@GRAD = Out@GRAD / sqrt(X * X - 1)"},
    {"atanh", Inner::None, "Out = atanh(X)"},
    {"atanh_grad", Inner::None, "X@GRAD = Out@GRAD / (1 - X * X)"},
    {"erf", Inner::None, "Out = erf(X)"},
    {"erf_grad", Inner::None, "X@GRAD = Out@GRAD * 1.1283791670955126 * exp(-X * X)"},
    {"floor", Inner::None, "Out = floor(X)"},
    {"floor_grad", Inner::None, "X@GRAD = Out@GRAD * 0"},
    {"ceil", Inner::None, "Out = ceil(X)"},
    {"ceil_grad", Inner::None, "X@GRAD = Out@GRAD * 0"},
    {"round", Inner::None, "Out = round(X)"},
    {"round_grad", Inner::None, "X@GRAD = Out@GRAD * 0"},
    {"trunc", Inner::None, "Out = trunc(X)"},
    {"trunc_grad", Inner::None, "X@GRAD = Out@GRAD * 0"},
    {"sign", Inner::None, "Out = X != X ? X : sign(X)"},
    // Without eps a number outside of [0, 1] gives NaN, with it the nearest bound; neither has a
    // gradient.
    {"logit", Inner::None, "z = eps > 0 ? max(min(X, 1 - eps), eps) : X; Out = log(z / (1 - z))"},
    {"logit_grad", Inner::None, "X@GRAD = X < eps || X > 1 - eps ? 0 : Out@GRAD / (X * (1 - X))"},
    {"erfinv_grad", Inner::None, "X@GRAD = Out@GRAD * 0.88622692545275801 * exp(Out * Out)"},
    functionRule("maxout", lowerMaxout),
    functionRule("maxout_grad", lowerMaxoutGrad),
    choiceRule("rrelu", lowerRrelu, "dt_rrelu"),
    {"rrelu_grad", Inner::None, "X@GRAD = Out@GRAD * Noise"},
    functionRule("prelu", lowerPrelu),
    functionRule("prelu_grad", lowerPreluGrad),
    callRule("erfinv", "dt_special"),
    callRule("lgamma", "dt_special"),
    callRule("digamma", "dt_special"),
    callRule("lgamma_grad", "dt_special_grad"),
    callRule("digamma_grad", "dt_special_grad"),
    callRule("i0", "dt_special(X=x, Out=out)"),
    callRule("i0_grad", "dt_special_grad(X=x, Out@GRAD=out@GRAD, X@GRAD=x@GRAD)"),
    callRule("i0e", "dt_special(X=x, Out=out)"),
    callRule("i0e_grad", "dt_special_grad(X=x, Out@GRAD=out@GRAD, X@GRAD=x@GRAD)"),
    callRule("i1", "dt_special(X=x, Out=out)"),
    callRule("i1_grad", "dt_special_grad(X=x, Out@GRAD=out@GRAD, X@GRAD=x@GRAD)"),
    callRule("i1e", "dt_special(X=x, Out=out)"),
    callRule("i1e_grad", "dt_special_grad(X=x, Out@GRAD=out@GRAD, X@GRAD=x@GRAD)"),
    callRule("polygamma", "dt_polygamma(X=x, Out=out)"),
    callRule("polygamma_grad", "dt_polygamma_grad(X=x, Out@GRAD=out@GRAD, X@GRAD=x@GRAD)"),
    callRule("nextafter", "dt_nextafter(X=x, Y=y, Out=out)"),
    {"angle", Inner::None, "Out = X < 0 ? 3.1415926535897931 : 0"},
    {"angle_grad", Inner::None, "X@GRAD = Out@GRAD * 0"},
    callRule("as_complex", "dt_complex_view"),
    callRule("as_real", "dt_complex_view"),
    callRule("complex", "dt_complex"),
    callRule("complex_grad", "dt_complex_grad"),
    callRule("real", "dt_complex_part"),
    callRule("imag", "dt_complex_part"),
    callRule("conj", "dt_complex_part"),
    callRule("real_grad", "dt_complex_part_grad"),
    callRule("imag_grad", "dt_complex_part_grad"),
};

}  // namespace

RuleTable activationRules() { return kRules; }

}  // namespace dtranspile::lower
