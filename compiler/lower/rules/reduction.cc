// Lowering rules: family `reduction`.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

// top_k and top_k_v2: rows of the last dim.
llvm::LogicalResult lowerTopK(OpLowering& op) {
  auto x = op.in("X");
  if (!x) return op.unsupported("an absent X");
  const bool v2 = op.op().type() == "top_k_v2";
  const auto rank = static_cast<int64_t>(x->dims.size());
  if (v2 && op.op().getInt("axis") != -1 && op.op().getInt("axis") != rank - 1) return op.unsupported("an axis that is not the last");
  std::vector<int64_t> dims = x->dims;
  dims.back() = op.op().getInt("k");
  TensorRef values = op.outOrTemporary("Out", x->dtype, dims), indices = op.outOrTemporary("Indices", DType::kInt64, dims);
  op.call("dt_top_k", {*x}, {values, indices}, {.ints = {v2 ? op.op().getBool("largest") : 1, op.op().getInt("k")}, .anyExtents = true});
  return llvm::success();
}

llvm::LogicalResult lowerCumsum(OpLowering& op) {
  auto x = op.in("X"), out = op.out("Out");
  if (!x || !out) return op.unsupported("an absent X");
  const pd::OpView& v = op.op();
  op.call("dt_cumsum", {*x}, {*out}, {.ints = {v.getInt("axis"), v.getBool("flatten"), v.getBool("exclusive"), v.getBool("reverse")}, .anyExtents = true});
  return llvm::success();
}

const LoweringRule kRules[] = {
    {"mean", Inner::All, "Out[r] = sum(X) / count"},
    {"mean_grad", Inner::All, "X@GRAD = Out@GRAD[r] / count"},
    {"reduce_sum", Inner::Dims, "Out[r] = sum(X)"},
    {"reduce_sum_grad", Inner::Dims, "X@GRAD = Out@GRAD[r]"},
    {"reduce_mean", Inner::Dims, "Out[r] = sum(X) / count"},
    {"reduce_mean_grad", Inner::Dims, "X@GRAD = Out@GRAD[r] / count"},
    {"reduce_max", Inner::Dims, "Out[r] = max(X)"},
    {"reduce_max_grad", Inner::Dims, "X@GRAD = X == Out[r] ? Out@GRAD[r] : 0"},
    {"reduce_min", Inner::Dims, "Out[r] = min(X)"},
    {"reduce_min_grad", Inner::Dims, "X@GRAD = X == Out[r] ? Out@GRAD[r] : 0"},
    {"reduce_prod", Inner::Dims, "Out[r] = prod(X)"},
    {"reduce_prod_grad", Inner::Dims, "X@GRAD = Out@GRAD[r] * Out[r] / X"},
    {"reduce_all", Inner::Dims, "Out[r] = all(X)"},
    {"reduce_any", Inner::Dims, "Out[r] = any(X)"},
    {"top_k", Inner::None, nullptr, lowerTopK},
    {"top_k_v2", Inner::None, nullptr, lowerTopK},
    {"cumsum", Inner::None, nullptr, lowerCumsum},
};

}  // namespace

RuleTable reductionRules() { return kRules; }

}  // namespace dtranspile::lower
