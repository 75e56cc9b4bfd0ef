// Lowering rules: norms and distances of family `linear_algebra`. Gradients have the framework's
// guards against division by zero (phi p_norm_grad, frobenius_norm_grad).
#include <cmath>

#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

using llvm::LogicalResult;

// Norms by their order; `d` is the argument of the norm. Formulas of a row each: value, then
// gradient. With n = (Σ |dᵢ|^p)^(1/p), ∂n/∂dᵢ = sign(dᵢ) |dᵢ|^(p-1) n^(1-p): for p = 2 that is
// dᵢ / n, for p = 1 the sign alone. Of the maximum (p = ∞) and the minimum (p = -∞) every element
// that attains it gets the whole gradient, and the number of elements that are not zero (p = 0) has
// none. `guard` keeps n from being zero in the denominator.
struct NormRow {
  const char *value, *gradient;
};

NormRow normOf(double order) {
  if (order == 0) return {"sum(d != 0 ? 1 : 0)", "0 * Out@GRAD[r]"};
  if (std::isinf(order))
    return {order > 0 ? "max(abs(d))" : "min(abs(d))",
            "abs(d) == Out[r] ? sign(d) * Out@GRAD[r] : 0"};
  if (order == 1) return {"sum(abs(d))", "sign(d) * Out@GRAD[r]"};
  if (order == 2) return {"sqrt(sum(d * d))", "d / (Out[r] + guard) * Out@GRAD[r]"};
  return {"pow(sum(pow(abs(d), order)), 1 / order)",
          "sign(d) * pow(abs(d), order - 1) * pow(Out[r] + guard, 1 - order) * Out@GRAD[r]"};
}

OpLowering::Bindings normBindings(double order, double guard, InnerDims inner) {
  return {.tensors = {},
          .numbers = {{"order", order}, {"guard", guard}},
          .axes = {},
          .inner = std::move(inner)};
}

// p_norm and its gradient: over `axis`, counted from the end where it is negative, or over all
// elements (`asvector`). An axis outside the tensor reduces nothing.
LogicalResult lowerPNorm(OpLowering& op) {
  const double order = op.op().getFloat("porder");
  const bool all = op.op().getBool("asvector");
  const int64_t axis = op.op().getInt("axis");
  auto inner = [=](const std::vector<int64_t>& domain) {
    std::vector<bool> mask(domain.size(), all);
    const int64_t at = axis < 0 ? axis + static_cast<int64_t>(domain.size()) : axis;
    if (at >= 0 && at < static_cast<int64_t>(domain.size())) mask[at] = true;
    return mask;
  };
  const NormRow row = normOf(order);
  const OpLowering::Bindings bindings = normBindings(order, op.op().getFloat("epsilon"), inner);
  if (op.op().type() == "p_norm")
    return op.formula(std::string("d = X; Out[r] = ") + row.value, bindings);
  return op.formula(std::string("d = X; X@GRAD = ") + row.gradient, bindings);
}

// The norm of a difference of tensors that broadcast.
LogicalResult lowerDist(OpLowering& op) {
  const double order = op.op().getFloat("p");
  auto inner = [](const std::vector<int64_t>& domain) {
    return std::vector<bool>(domain.size(), true);
  };
  const NormRow row = normOf(order);
  constexpr double kGuard = 1e-12;
  OpLowering::Bindings bindings = normBindings(order, kGuard, inner);
  auto x = op.in("X"), y = op.in("Y");
  if (!x || !y) return op.unsupported("an absent input");
  // A formula's domain is one of its tensors: where both are repeated, one that is as large as the
  // difference has to be there.
  std::vector<int64_t> dims(std::max(x->dims.size(), y->dims.size()), 1);
  for (const TensorRef& t : {*x, *y}) {
    for (size_t i = 0; i < t.dims.size(); ++i) {
      int64_t& extent = dims[dims.size() - t.dims.size() + i];
      if (t.dims[i] != 1) extent = t.dims[i];
    }
  }
  bindings.tensors.emplace_back("difference", op.temporary("difference", x->dtype, dims));
  if (failed(op.formula("difference = X - Y", {.tensors = bindings.tensors})))
    return llvm::failure();
  if (op.op().type() == "dist")
    return op.formula(std::string("d = difference; Out[r] = ") + row.value, bindings);
  return op.formula(
      std::string("d = difference; g = ") + row.gradient + "; X@GRAD = g; Y@GRAD = -g", bindings);
}

const LoweringRule kRules[] = {
    functionRule("dist", lowerDist),
    functionRule("dist_grad", lowerDist),
    functionRule("p_norm", lowerPNorm),
    functionRule("p_norm_grad", lowerPNorm),
    {"frobenius_norm", Inner::Dims, "Out[r] = sqrt(sum(X * X))"},
    {"frobenius_norm_grad", Inner::Dims, "X@GRAD = X / (Out[r] + 1e-12) * Out@GRAD[r]"},
    {"norm", Inner::Axis, "n = sqrt(sum(X * X) + epsilon); Norm[r] = n; Out = X / n"},
    {"norm_grad", Inner::Axis,
     "s = sum(X * Out@GRAD); X@GRAD = (Out@GRAD - X * (s / (Norm[r] * Norm[r]))) / Norm[r]"},
    {"l1_norm", Inner::All, "Out[r] = sum(abs(X))"},
    {"l1_norm_grad", Inner::All, "X@GRAD = sign(X) * Out@GRAD[r]"},
    {"squared_l2_norm", Inner::All, "Out[r] = sum(X * X)"},
    {"squared_l2_norm_grad", Inner::All, "X@GRAD = 2 * X * Out@GRAD[r]"},
    {"squared_l2_distance", Inner::NotFirst, "d = X - Y; sub_result = d; Out[r] = sum(d * d)"},
    {"squared_l2_distance_grad", Inner::NotFirst,
     "g = 2 * Out@GRAD[r] * sub_result; X@GRAD = g; Y@GRAD = -g"},
    {"cos_sim", Inner::NotFirst,
     "XNorm[r] = sqrt(max(sum(X * X), 1e-8))\nYNorm[r] = sqrt(max(sum(Y * Y), 1e-8))\n"
     "Out[r] = sum(X * Y) / (sqrt(max(sum(X * X), 1e-8)) * sqrt(max(sum(Y * Y), 1e-8)))"},
    {"cos_sim_grad", Inner::NotFirst,
     "n = XNorm[r]; m = YNorm; g = Out@GRAD[r]; c = Out[r]; X@GRAD = g * (Y / (n * m) - c * X / (n "
     "* n)); Y@GRAD = g * (X / (n * m) - c * Y / (m * m))"},
};

}  // namespace

RuleTable normRules() { return kRules; }

}  // namespace dtranspile::lower
