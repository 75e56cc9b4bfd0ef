// The table of formulas. A row says what elements a result has where it understands the op in this
// form, and nothing else: what it does not understand is a function without laws.
#include "compiler/verify/refinement/describe.h"
#include "compiler/verify/refinement/formula_parts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

namespace dtranspile::verify {
using namespace formulas;
namespace {

// Axes that are repeated where the other operand is longer.
struct Broadcast {
  Variables variables;
  Axes x, y, out;
};

// The framework's broadcasting: from the last axis, or, with `axis`, the second operand beginning
// at this axis of the first. One variable per axis of the result; an operand whose extent is 1
// there has no variable (-1).
std::optional<Broadcast> broadcast(const Context& c, const Operand& a, const Operand& b,
                                   int64_t axis) {
  const std::vector<Dim> x = c.dims(a), y = c.dims(b);
  const size_t rank = std::max(x.size(), y.size());
  size_t atX = rank - x.size(), atY = rank - y.size();
  if (axis != -1) {
    if (axis < 0 || x.size() < y.size() || axis + y.size() > rank) return std::nullopt;
    atY = static_cast<size_t>(axis);
  }
  Broadcast result;
  const Dim one{1, c.sorts().ofExtent(1)};
  for (size_t i = 0; i < rank; ++i) {
    const bool hasX = i >= atX, hasY = i >= atY && i < atY + y.size();
    const Dim &left = hasX ? x[i - atX] : one, &right = hasY ? y[i - atY] : one;
    // What is as long as a step says may be 1 there, and repeated.
    if (left.extent != 1 && right.extent != 1 && !c.same(left, right)) return std::nullopt;
    const int variable = result.variables.add(left.extent == 1 ? right : left);
    result.out.push_back(variable);
    if (hasX) result.x.push_back(left.extent == 1 ? -1 : variable);
    if (hasY) result.y.push_back(right.extent == 1 ? -1 : variable);
  }
  return result;
}

struct Binary {
  Operand x, y;
  Broadcast axes;
};
std::optional<Binary> binary(const Context& c) {
  const std::optional<Operand> x = c.operand("X"), y = c.operand("Y");
  if (!x || !y) return std::nullopt;
  std::optional<Broadcast> axes = broadcast(c, *x, *y, c.op().getInt("axis"));
  if (!axes) return std::nullopt;
  return Binary{*x, *y, std::move(*axes)};
}

Result add(const Context& c, const Rational& sign) {
  const auto of = binary(c);
  if (!of) return std::nullopt;
  return formula(of->axes.variables, of->axes.out,
                 {monomial(Rational(1), {element(of->x, of->axes.x)}),
                  monomial(sign, {element(of->y, of->axes.y)})});
}
Result elementwiseAdd(const Context& c) { return add(c, Rational(1)); }
Result elementwiseSub(const Context& c) { return add(c, Rational(-1)); }

constexpr char kInverse[] = "1/";

Result product(const Context& c, const char* ofY) {
  const auto of = binary(c);
  if (!of) return std::nullopt;
  return formula(
      of->axes.variables, of->axes.out,
      {monomial(Rational(1), {element(of->x, of->axes.x), element(of->y, of->axes.y, ofY)})});
}
Result elementwiseMul(const Context& c) { return product(c, ""); }
Result elementwiseDiv(const Context& c) { return product(c, kInverse); }

// The gradient of a sum of products: over all variables that the operand does not have.
Result gradient(const Context& c, const Variables& variables, const Axes& result, const Axes& out,
                const Rational& number, std::vector<Factor> others) {
  const std::optional<Operand> given = c.operand(kOutGrad);
  if (!given || !demandAxes(c, variables, *given, out)) return std::nullopt;
  others.push_back(element(*given, out));
  return formula(variables, result, {monomial(number, std::move(others))});
}

Result addGradient(const Context& c, const Rational& sign) {
  const auto of = binary(c);
  if (!of) return std::nullopt;
  const Broadcast& axes = of->axes;
  if (c.slot() == "X@GRAD") return gradient(c, axes.variables, axes.x, axes.out, Rational(1), {});
  return gradient(c, axes.variables, axes.y, axes.out, sign, {});
}
Result elementwiseAddGrad(const Context& c) { return addGradient(c, Rational(1)); }
Result elementwiseSubGrad(const Context& c) { return addGradient(c, Rational(-1)); }

// dX = Σ dOut · Y over the axes along which X was repeated, and the other way round.
Result elementwiseMulGrad(const Context& c) {
  const auto of = binary(c);
  if (!of) return std::nullopt;
  const Broadcast& axes = of->axes;
  if (c.slot() == "X@GRAD")
    return gradient(c, axes.variables, axes.x, axes.out, Rational(1), {element(of->y, axes.y)});
  return gradient(c, axes.variables, axes.y, axes.out, Rational(1), {element(of->x, axes.x)});
}

// x / y gives -Out/y to y.
Result elementwiseDivGrad(const Context& c) {
  const auto of = binary(c);
  if (!of) return std::nullopt;
  const Broadcast& axes = of->axes;
  if (c.slot() == "X@GRAD")
    return gradient(c, axes.variables, axes.x, axes.out, Rational(1),
                    {element(of->y, axes.y, kInverse)});
  const std::optional<Operand> out = c.operand("Out");
  if (!out || !demandAxes(c, axes.variables, *out, axes.out)) return std::nullopt;
  return gradient(c, axes.variables, axes.y, axes.out, Rational(-1),
                  {element(*out, axes.out), element(of->y, axes.y, kInverse)});
}

// Of equal shapes.
Result sum(const Context& c) {
  const std::vector<Operand> all = c.operands("X");
  if (all.empty()) return std::nullopt;
  Variables variables;
  const Axes axes = variables.add(c.dims(all[0]));
  std::vector<Monomial> monomials;
  for (const Operand& one : all) {
    const std::vector<Dim> dims = c.dims(one);
    if (dims.size() != axes.size()) return std::nullopt;
    for (size_t i = 0; i < dims.size(); ++i)
      if (axes[i] < 0 ? dims[i].extent != 1 : !c.same(dims[i], variables.all[axes[i]]))
        return std::nullopt;
    monomials.push_back(monomial(Rational(1), {element(one, axes)}));
  }
  return formula(variables, axes, std::move(monomials));
}

Result scale(const Context& c) {
  const std::optional<Operand> x = c.operand("X");
  if (!x || c.op().inputCount("ScaleTensor") > 0) return std::nullopt;
  const Rational factor = Rational::ofFloat(c.op().getFloat("scale"));
  Rational bias = Rational::ofFloat(c.op().getFloat("bias"));
  if (!c.op().getBool("bias_after_scale")) bias = bias * factor;
  if (factor.isLost() || bias.isLost()) return std::nullopt;
  Variables variables;
  const Axes axes = variables.add(c.dims(*x));
  return formula(variables, axes, {monomial(factor, {element(*x, axes)}), monomial(bias, {})});
}

Result fillConstant(const Context& c) {
  const Rational value = Rational::ofFloat(c.op().getFloat("value"));
  if (c.op().operation()->getNumOperands() > 0 || !c.op().getString("str_value").empty() ||
      value.isLost() || !c.type().hasStaticShape())
    return std::nullopt;
  Variables variables;
  Axes axes;
  for (int64_t extent : c.type().getShape())
    axes.push_back(variables.add({extent, c.sorts().ofExtent(extent)}));
  return formula(variables, axes, {monomial(value, {})});
}

// number / the extents of all variables of `over`.
void divide(Monomial& one, const Variables& variables, llvm::ArrayRef<int> over) {
  for (int variable : over) {
    if (variable < 0) continue;
    const Dim& dim = variables.all[variable];
    if (dim.extent > 0) one.number = one.number * Rational(1, dim.extent);
    else one.over.push_back(dim.sort);
  }
}

// The operand's variables, those that are summed over, and those that are left, as axes of what the
// op gives.
struct Reduction {
  Variables variables;
  Axes x, summed, left;
};
// Which variables of the operand are summed over, and which are those of the result; a dim that is
// kept with extent 1 has none (-1).
std::optional<Reduction> reduction(const Context& c, const Operand& x, bool all) {
  Reduction result;
  result.x = result.variables.add(c.dims(x));
  const int64_t rank = static_cast<int64_t>(result.x.size());
  std::vector<bool> over(rank, all);
  if (!all && c.op().getInts("dim").empty()) return std::nullopt;
  if (!all)
    for (int64_t dim : c.op().getInts("dim")) {
      if (dim < 0) dim += rank;
      if (dim < 0 || dim >= rank) return std::nullopt;
      over[dim] = true;
    }
  const bool keep = c.op().spec()->attribute("keep_dim") && c.op().getBool("keep_dim");
  for (int64_t i = 0; i < rank; ++i) {
    if (over[i]) result.summed.push_back(result.x[i]);
    if (!over[i]) result.left.push_back(result.x[i]);
    else if (keep) result.left.push_back(-1);
  }
  return result;
}

// A number may be a tensor of one element of any rank.
std::optional<Axes> leftAxes(const Reduction& of, mlir::RankedTensorType type) {
  if (static_cast<int64_t>(of.left.size()) == type.getRank()) return of.left;
  if (llvm::any_of(of.left, [](int variable) { return variable >= 0; })) return std::nullopt;
  return Axes(type.getRank(), -1);
}

Result reduce(const Context& c, bool mean, bool all) {
  const std::optional<Operand> x = c.operand("X");
  const auto of = x ? reduction(c, *x, all) : std::nullopt;
  if (!of) return std::nullopt;
  const std::optional<Axes> left = leftAxes(*of, c.type());
  if (!left) return std::nullopt;
  Monomial one = monomial(Rational(1), {element(*x, of->x)});
  if (mean) divide(one, of->variables, of->summed);
  return formula(of->variables, *left, {one});
}
Result mean(const Context& c) { return reduce(c, true, true); }
Result reduceSum(const Context& c) { return reduce(c, false, c.op().getBool("reduce_all")); }
Result reduceMean(const Context& c) { return reduce(c, true, c.op().getBool("reduce_all")); }

// Each element of X gets the gradient of its sum, over the number of summands for a mean.
Result reduceGradient(const Context& c, bool mean, bool all) {
  const std::optional<Operand> x = c.operand("X"), given = c.operand(kOutGrad);
  const auto of = x && given ? reduction(c, *x, all) : std::nullopt;
  if (!of) return std::nullopt;
  const std::optional<Axes> left = leftAxes(*of, given->type);
  if (!left || !demandAxes(c, of->variables, *given, *left)) return std::nullopt;
  Monomial one = monomial(Rational(1), {element(*given, *left)});
  if (mean) divide(one, of->variables, of->summed);
  return formula(of->variables, of->x, {one});
}
Result meanGrad(const Context& c) { return reduceGradient(c, true, true); }
Result reduceSumGrad(const Context& c) {
  return reduceGradient(c, false, c.op().getBool("reduce_all"));
}
Result reduceMeanGrad(const Context& c) {
  return reduceGradient(c, true, c.op().getBool("reduce_all"));
}

// out = number · the sum of products of x and y, over variables that both have and out has not.
struct Contraction {
  Operand left, right;
  Variables variables;
  Axes x, y, out;
  Rational number;
};

// Both flattened to matrices, at a number of axes each.
std::optional<Contraction> ofMul(const Context& c) {
  const std::optional<Operand> x = c.operand("X"), y = c.operand("Y");
  if (!x || !y) return std::nullopt;
  for (const char* factor : {"scale_x", "scale_out"})
    if (c.op().hasAttr(factor) && c.op().getFloat(factor) != 1) return std::nullopt;
  if (c.op().hasAttr("scale_y") && c.op().getFloats("scale_y") != std::vector<double>{1})
    return std::nullopt;
  const std::vector<Dim> dims = c.dims(*y);
  Contraction result{*x, *y, {}, {}, {}, {}, Rational(1)};
  result.x = result.variables.add(c.dims(*x));
  const auto rows = static_cast<size_t>(c.op().getInt("x_num_col_dims"));
  const auto inner = static_cast<size_t>(c.op().getInt("y_num_col_dims"));
  // Inner extents that agree one by one; their products may agree otherwise.
  if (rows > result.x.size() || inner > dims.size() || result.x.size() - rows != inner)
    return std::nullopt;
  result.out.assign(result.x.begin(), result.x.begin() + rows);
  result.y.assign(result.x.begin() + rows, result.x.end());
  for (size_t i = inner; i < dims.size(); ++i) {
    result.y.push_back(result.variables.add(dims[i]));
    result.out.push_back(result.y.back());
  }
  const auto isUnknown = [](const Dim& dim) { return dim.extent < 0; };
  if (inner > 1 && std::any_of(dims.begin(), dims.begin() + inner, isUnknown)) return std::nullopt;
  if (!demandAxes(c, result.variables, *y, result.y)) return std::nullopt;
  return result;
}

// The last two axes are matrices, those before are batches, repeated like elementwise operands.
std::optional<Contraction> ofMatmul(const Context& c, bool transposeX, bool transposeY,
                                    const Rational& number) {
  const std::optional<Operand> a = c.operand("X"), b = c.operand("Y");
  if (!a || !b || a->type.getRank() < 2 || b->type.getRank() < 2 || number.isLost())
    return std::nullopt;
  std::vector<Dim> x = c.dims(*a), y = c.dims(*b);
  const size_t batchX = x.size() - 2, batchY = y.size() - 2, batches = std::max(batchX, batchY);
  Contraction result{*a, *b, {}, {}, {}, {}, number};
  for (size_t i = 0; i < batches; ++i) {
    const bool hasX = i + batchX >= batches, hasY = i + batchY >= batches;
    const Dim left = hasX ? x[i + batchX - batches] : Dim{1, 0},
              right = hasY ? y[i + batchY - batches] : Dim{1, 0};
    if (left.extent != 1 && right.extent != 1 && !c.same(left, right)) return std::nullopt;
    const int variable = result.variables.add(left.extent == 1 ? right : left);
    result.out.push_back(variable);
    if (hasX) result.x.push_back(left.extent == 1 ? -1 : variable);
    if (hasY) result.y.push_back(right.extent == 1 ? -1 : variable);
  }
  const Dim &row = x[batchX + (transposeX ? 1 : 0)], &inner = x[batchX + (transposeX ? 0 : 1)],
            &column = y[batchY + (transposeY ? 0 : 1)];
  if (!c.demand(inner, y[batchY + (transposeY ? 1 : 0)])) return std::nullopt;
  const int i = result.variables.add(row), k = result.variables.add(inner),
            j = result.variables.add(column);
  result.x.insert(result.x.end(), {transposeX ? k : i, transposeX ? i : k});
  result.y.insert(result.y.end(), {transposeY ? j : k, transposeY ? k : j});
  result.out.insert(result.out.end(), {i, j});
  return result;
}

std::optional<Contraction> ofOldMatmul(const Context& c) {
  const pd::OpView op = c.op();
  if (!op.getInts("fused_reshape_Out").empty() || !op.getInts("fused_transpose_Out").empty() ||
      op.getInt("head_number") != 1)
    return std::nullopt;
  return ofMatmul(c, op.getBool("transpose_X"), op.getBool("transpose_Y"),
                  Rational::ofFloat(op.getFloat("alpha")));
}
std::optional<Contraction> ofMatmulV2(const Context& c) {
  return ofMatmul(c, c.op().getBool("trans_x"), c.op().getBool("trans_y"), Rational(1));
}
std::optional<Contraction> ofBmm(const Context& c) {
  return ofMatmul(c, false, false, Rational(1));
}

using Contract = std::optional<Contraction> (*)(const Context&);

template <Contract contract>
Result contraction(const Context& c) {
  const auto of = contract(c);
  if (!of) return std::nullopt;
  return formula(of->variables, of->out,
                 {monomial(of->number, {element(of->left, of->x), element(of->right, of->y)})});
}

template <Contract contract>
Result contractionGrad(const Context& c) {
  const auto of = contract(c);
  if (!of) return std::nullopt;
  if (c.slot() == "X@GRAD")
    return gradient(c, of->variables, of->x, of->out, of->number, {element(of->right, of->y)});
  return gradient(c, of->variables, of->y, of->out, of->number, {element(of->left, of->x)});
}

Result square(const Context& c) {
  const std::optional<Operand> x = c.operand("X");
  if (!x) return std::nullopt;
  Variables variables;
  const Axes axes = variables.add(c.dims(*x));
  return formula(variables, axes, {monomial(Rational(1), {element(*x, axes), element(*x, axes)})});
}

Result squareGrad(const Context& c) {
  const std::optional<Operand> x = c.operand("X");
  if (!x) return std::nullopt;
  Variables variables;
  const Axes axes = variables.add(c.dims(*x));
  return gradient(c, variables, axes, axes, Rational(2), {element(*x, axes)});
}

Result squaredNorm(const Context& c) {
  const std::optional<Operand> x = c.operand("X");
  if (!x) return std::nullopt;
  Variables variables;
  const Axes axes = variables.add(c.dims(*x));
  return formula(variables, Axes(c.type().getRank(), -1),
                 {monomial(Rational(1), {element(*x, axes), element(*x, axes)})});
}

// Param - LearningRate · Grad.
Result sgd(const Context& c) {
  const std::optional<Operand> parameter = c.operand("Param"), gradient = c.operand("Grad"),
                               rate = c.operand("LearningRate");
  if (!parameter || !gradient || !rate || !isOne(*rate) || c.slot() != "ParamOut" ||
      c.op().inputCount("MasterParam") > 0)
    return std::nullopt;
  Variables variables;
  const Axes axes = variables.add(c.dims(*parameter));
  if (!demandAxes(c, variables, *gradient, axes)) return std::nullopt;
  return formula(variables, axes,
                 {monomial(Rational(1), {element(*parameter, axes)}),
                  monomial(Rational(-1), {element(*rate, ones(*rate)), element(*gradient, axes)})});
}

// Ops that go element by element: functions without laws of one number, told apart by their
// attributes. A gradient is linear in that of the result.
const llvm::StringSet<>& pointwise() {
  static const llvm::StringSet<> kTypes = {
      "abs",        "acos",       "asin", "atan",     "celu",        "cos",         "cosh",
      "elu",        "erf",        "exp",  "expm1",    "gelu",        "hard_shrink", "hard_sigmoid",
      "hard_swish", "leaky_relu", "log",  "log10",    "log1p",       "log2",        "logsigmoid",
      "mish",       "reciprocal", "relu", "relu6",    "rsqrt",       "selu",        "sigmoid",
      "silu",       "sin",        "sinh", "softplus", "softshrink",  "softsign",    "sqrt",
      "stanh",      "swish",      "tan",  "tanh",     "tanh_shrink",
  };
  return kTypes;
}

std::string functionOf(const Context& c) {
  if (c.op().type() == "reciprocal") return kInverse;
  std::string name = c.op().type().str();
  for (const auto& [attribute, value] : describeOp(c.op(), false).attributes)
    name += "|" + attribute + "=" + value;
  return name;
}

Result pointwiseOp(const Context& c) {
  const std::optional<Operand> x = c.operand("X");
  if (!x || c.op().operation()->getNumOperands() != 1 || c.slot() != "Out") return std::nullopt;
  Variables variables;
  const Axes axes = variables.add(c.dims(*x));
  return formula(variables, axes, {monomial(Rational(1), {element(*x, axes, functionOf(c))})});
}

// The gradient of an elementwise op of one operand is dOut times a function of Out or X: the
// function is uninterpreted, named by op and attributes, but that it is linear in dOut is known.
Result pointwiseGrad(const Context& c) {
  const std::optional<Operand> given = c.operand(kOutGrad);
  if (!given || c.slot() != "X@GRAD") return std::nullopt;
  Variables variables;
  const Axes axes = variables.add(c.dims(*given));
  Factor others = element(*given, axes, functionOf(c));
  others.operands.clear();
  for (const char* slot : {"Out", "X"}) {
    if (c.op().inputCount(slot) == 0) continue;
    const std::optional<Operand> one = c.operand(slot);
    if (!one || !demandAxes(c, variables, *one, axes)) return std::nullopt;
    others.function += std::string("|") + slot;
    others.operands.push_back(*one);
  }
  if (others.operands.empty() || others.operands.size() + 1 != c.op().operation()->getNumOperands())
    return std::nullopt;
  return formula(variables, axes, {monomial(Rational(1), {element(*given, axes), others})});
}

constexpr FormulaRow kRows[] = {
    {"bmm", contraction<ofBmm>},
    {"bmm_grad", contractionGrad<ofBmm>},
    {"elementwise_add", elementwiseAdd},
    {"elementwise_add_grad", elementwiseAddGrad},
    {"elementwise_div", elementwiseDiv},
    {"elementwise_div_grad", elementwiseDivGrad},
    {"elementwise_mul", elementwiseMul},
    {"elementwise_mul_grad", elementwiseMulGrad},
    {"elementwise_sub", elementwiseSub},
    {"elementwise_sub_grad", elementwiseSubGrad},
    {"fill_constant", fillConstant},
    {"matmul", contraction<ofOldMatmul>},
    {"matmul_grad", contractionGrad<ofOldMatmul>},
    {"matmul_v2", contraction<ofMatmulV2>},
    {"matmul_v2_grad", contractionGrad<ofMatmulV2>},
    {"mean", mean},
    {"mean_grad", meanGrad},
    {"mul", contraction<ofMul>},
    {"mul_grad", contractionGrad<ofMul>},
    {"reduce_mean", reduceMean},
    {"reduce_mean_grad", reduceMeanGrad},
    {"reduce_sum", reduceSum},
    {"reduce_sum_grad", reduceSumGrad},
    {"scale", scale},
    {"sgd", sgd},
    {"square", square},
    {"square_grad", squareGrad},
    {"squared_l2_norm", squaredNorm},
    {"sum", sum},
};

}  // namespace

// By row, else as an uninterpreted function of single elements where the op is known to be one.
std::optional<Formula> formulaOf(const FormulaContext& context) {
  const llvm::StringRef type = context.op().type();
  for (llvm::ArrayRef<FormulaRow> rows : {llvm::ArrayRef(kRows), rowsOfMoves()})
    for (const FormulaRow& row : rows)
      if (type == row.type) return row.make(context);
  if (pointwise().contains(type)) return pointwiseOp(context);
  if (type.ends_with("_grad") && pointwise().contains(type.drop_back(5)))
    return pointwiseGrad(context);
  return std::nullopt;
}

}  // namespace dtranspile::verify
