#include "compiler/verify/refinement/algebra.h"

#include "compiler/verify/refinement/describe.h"
#include "dialects/pd/types.h"
#include "mlir/IR/BuiltinTypes.h"

namespace dtranspile::verify {
namespace {

using Results = std::optional<std::vector<TermId>>;

// A dense tensor of floats, in which sums and factors are those of real numbers.
bool isReal(mlir::Value value) {
  auto type =
      value ? llvm::dyn_cast<mlir::RankedTensorType>(value.getType()) : mlir::RankedTensorType();
  return type && type.getElementType().isFloat();
}

bool alike(mlir::Value a, mlir::Value b, const AlgebraContext& context) {
  return describeType(a.getType(), context.anyFloat) == describeType(b.getType(), context.anyFloat);
}

bool isStatic(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType()).hasStaticShape();
}

mlir::Value only(pd::OpView op) { return op.operation()->getResult(0); }

Results one(TermId term) { return std::vector<TermId>{term}; }

Results assign(pd::OpView op, const AlgebraContext& context) {
  mlir::Value x = op.input("X");
  if (!x || op.operation()->getNumResults() != 1 || !alike(x, only(op), context))
    return std::nullopt;
  return one(context.termOf(x));
}

// Between floats only: over the reals nothing is rounded. Ragged tensors keep their rows.
Results cast(pd::OpView op, const AlgebraContext& context) {
  const auto holdsFloats = [](mlir::Value value) {
    mlir::RankedTensorType tensor =
        value ? pd::tensorOf(value.getType()) : mlir::RankedTensorType();
    return tensor && tensor.getElementType().isFloat();
  };
  if (!holdsFloats(op.input("X")) || !holdsFloats(only(op))) return std::nullopt;
  return assign(op, context);
}

// Only a factor without a bias is linear. A factor of zero makes zeros, whose extents must then be
// known.
Results scale(pd::OpView op, const AlgebraContext& context) {
  mlir::Value x = op.input("X");
  if (!isReal(x) || op.inputCount("ScaleTensor") > 0 || op.getFloat("bias") != 0 ||
      !alike(x, only(op), context))
    return std::nullopt;
  const Rational factor = Rational::ofFloat(op.getFloat("scale"));
  if (factor.numerator() == 0 && !isStatic(only(op)))
    return std::nullopt;  // zeros of which extents?
  return one(context.terms.scale(context.termOf(x), factor));
}

// values[0] + … + lastFactor · values[n-1]. Sums are normal forms over atoms with rational factors
// (Terms), so the order of terms, and cancelling ones, make no difference: the proof is over the
// reals.
Results sumOf(pd::OpView op, llvm::ArrayRef<mlir::Value> values, Rational lastFactor,
              const AlgebraContext& context) {
  TermId sum = Terms::kZero;
  for (auto [i, value] : llvm::enumerate(values)) {
    // Nothing is broadcast.
    if (!isReal(value) || !alike(value, only(op), context)) return std::nullopt;
    TermId term = context.termOf(value);
    if (i + 1 == values.size()) term = context.terms.scale(term, lastFactor);
    sum = context.terms.add(sum, term);
  }
  // Which extents a zero has is said by its type only.
  if (sum == Terms::kZero && !isStatic(only(op))) return std::nullopt;
  return one(sum);
}

Results sum(pd::OpView op, const AlgebraContext& context) {
  return sumOf(op, op.inputs("X"), Rational(), context);
}
Results add(pd::OpView op, const AlgebraContext& context) {
  return sumOf(op, {op.input("X"), op.input("Y")}, Rational(), context);
}
Results subtract(pd::OpView op, const AlgebraContext& context) {
  return sumOf(op, {op.input("X"), op.input("Y")}, Rational(-1), context);
}

// The positive scalar that a value is; nothing where it is something else.
Scalars positiveScalar(mlir::Value value, const AlgebraContext& context) {
  auto type =
      value ? llvm::dyn_cast<mlir::RankedTensorType>(value.getType()) : mlir::RankedTensorType();
  if (!type || !type.hasStaticShape() || type.getNumElements() != 1) return {};
  const int64_t id = context.terms.singleId(context.termOf(value));
  if (id < 0 || !context.positive.count(static_cast<AtomId>(id))) return {};
  return {{static_cast<AtomId>(id), 1}};
}

// x · s, on either side.
Results multiply(pd::OpView op, const AlgebraContext& context) {
  for (auto [x, y] : {std::pair("X", "Y"), std::pair("Y", "X")}) {
    const Scalars scalar = positiveScalar(op.input(y), context);
    mlir::Value value = op.input(x);
    if (scalar.empty() || !isReal(value) || !alike(value, only(op), context)) continue;
    return one(context.terms.times(context.termOf(value), scalar, 1));
  }
  return std::nullopt;
}

// x / s.
Results divide(pd::OpView op, const AlgebraContext& context) {
  const Scalars scalar = positiveScalar(op.input("Y"), context);
  mlir::Value value = op.input("X");
  if (scalar.empty() || !isReal(value) || !alike(value, only(op), context)) return std::nullopt;
  return one(context.terms.times(context.termOf(value), scalar, -1));
}

// The gradient of x · s with regard to x.
Results multiplyGradient(pd::OpView op, const AlgebraContext& context) {
  const Scalars scalar = positiveScalar(op.input("Y"), context);
  mlir::Value gradient = op.input("Out@GRAD"), result = op.output("X@GRAD");
  if (scalar.empty() || !result || op.operation()->getNumResults() != 1 || !isReal(gradient) ||
      !alike(gradient, result, context))
    return std::nullopt;
  return one(context.terms.times(context.termOf(gradient), scalar, 1));
}

// X / Scale, and whether any element is not finite.
Results unscale(pd::OpView op, const AlgebraContext& context) {
  const Scalars scalar = positiveScalar(op.input("Scale"), context);
  if (scalar.empty()) return std::nullopt;
  std::vector<TermId> results(op.operation()->getNumResults(), Terms::kNone);
  for (unsigned i = 0; i < op.inputCount("X"); ++i) {
    mlir::Value x = op.input("X", i), out = op.output("Out", i);
    if (!x || !isReal(x)) return std::nullopt;
    if (op.outputCount("Out") == 0) continue;  // looks at it only
    if (!out || !alike(x, out, context)) return std::nullopt;
    results[llvm::cast<mlir::OpResult>(out).getResultNumber()] =
        context.terms.times(context.termOf(x), scalar, -1);
  }
  mlir::Value found = op.output("FoundInfinite");
  if (!found) return std::nullopt;
  // Whatever it looks at, it may find something: one unknown per op.
  const size_t number = context.terms.numberOf(op.operation());
  results[llvm::cast<mlir::OpResult>(found).getResultNumber()] =
      context.terms.of(context.terms.atom(
          kFoundInfinite, kFoundInfinite + (" #" + std::to_string(number)), {}, op.operation()));
  return results;
}

// Gradients pass where all of them are finite. What the scale and its counters become follows from
// what was found and from what they were, whatever stands in X: one term per state, so that another
// counter in a slot is another term.
Results updateScale(pd::OpView op, const AlgebraContext& context) {
  mlir::Value found = op.input("FoundInfinite");
  if (!found) return std::nullopt;
  const auto termOf = [&](llvm::StringRef slot) {
    mlir::Value value = op.input(slot);
    return value ? context.termOf(value) : Terms::kNone;
  };
  std::vector<TermId> state;
  for (llvm::StringRef slot : kScaleState) state.push_back(termOf(slot));
  // What is written in place is the scale itself, and nothing stops the update.
  const bool plain =
      op.inputCount("StopUpdate") == 0 &&
      (op.inputCount("$LossScaling") == 0 || termOf("$LossScaling") == termOf("PrevLossScaling"));
  if (!plain) return std::nullopt;
  const std::optional<bool> overflow = context.truth(context.termOf(found));
  const Description own = describeOp(op, context.anyFloat);
  std::vector<TermId> results(op.operation()->getNumResults(), Terms::kNone);
  for (auto [i, output] : llvm::enumerate(own.outputs))
    results[i] = movedScale(context.terms, own.attributes, output, state, op.operation());
  for (unsigned i = 0; i < op.outputCount("Out"); ++i) {
    mlir::Value x = op.input("X", i), out = op.output("Out", i);
    if (!x || !out) return std::nullopt;
    const TermId term = context.termOf(x);
    results[llvm::cast<mlir::OpResult>(out).getResultNumber()] =
        overflow && !*overflow ? term
                               : context.terms.of(context.terms.atom(
                                     "update_loss_scaling", "update_loss_scaling|gradient",
                                     {state.front(), term}, op.operation()));
  }
  return results;
}

// A number stays the same number in whatever shape of one element.
Results reshape(pd::OpView op, const AlgebraContext& context) {
  auto isOne = [](mlir::Value value) {
    auto type =
        value ? llvm::dyn_cast<mlir::RankedTensorType>(value.getType()) : mlir::RankedTensorType();
    return type && type.hasStaticShape() && type.getNumElements() == 1;
  };
  mlir::Value x = op.input("X"), out = op.output("Out");
  if (!isOne(x) || !isOne(out)) return std::nullopt;
  std::vector<TermId> results;
  for (mlir::OpResult result : op.operation()->getResults())
    results.push_back(result == out
                          ? context.termOf(x)
                          : context.terms.of(context.terms.atom(
                                "extents", "extents " + describeType(x.getType(), context.anyFloat),
                                {}, op.operation())));
  return results;
}

// Zero is the sum of nothing; other constants are atoms.
Results constant(pd::OpView op, const AlgebraContext&) {
  if (!isReal(only(op)) || !isStatic(only(op)) || op.operation()->getNumOperands() > 0 ||
      op.getFloat("value") != 0 || !op.getString("str_value").empty())
    return std::nullopt;
  return one(Terms::kZero);
}

struct AlgebraRow {
  const char* type;
  Results (*compute)(pd::OpView, const AlgebraContext&);
};

// Ops whose results are computed as terms. All others are atoms: equal where type, attributes and
// operands are.
constexpr AlgebraRow kAlgebra[] = {
    {"assign", assign},
    {"cast", cast},
    {"check_finite_and_unscale", unscale},
    {"elementwise_add", add},
    {"elementwise_div", divide},
    {"elementwise_mul", multiply},
    {"elementwise_mul_grad", multiplyGradient},
    {"elementwise_sub", subtract},
    {"fill_constant", constant},
    {"memcpy", assign},
    {"reshape", reshape},
    {"reshape2", reshape},
    {"scale", scale},
    {"squeeze", reshape},
    {"squeeze2", reshape},
    {"sum", sum},
    {"unsqueeze", reshape},
    {"unsqueeze2", reshape},
    {"update_loss_scaling", updateScale},
};

}  // namespace

TermId movedScale(Terms& terms, const std::map<std::string, std::string>& attributes,
                  const std::string& output, const std::vector<TermId>& state,
                  mlir::Operation* op) {
  std::string key = "update_loss_scaling|";
  for (const auto& [name, value] : attributes) key += name + "=" + value + "|";
  return terms.of(terms.atom("update_loss_scaling", key + "->" + output, state, op));
}

std::optional<std::vector<TermId>> compute(pd::OpView op, const AlgebraContext& context) {
  if (op.operation()->getNumResults() == 0) return std::nullopt;
  const llvm::StringRef type = op.type();
  for (const AlgebraRow& row : kAlgebra)
    if (type == row.type) return row.compute(op, context);
  return std::nullopt;
}

}  // namespace dtranspile::verify
