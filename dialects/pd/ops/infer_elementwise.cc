// Inference and constraints of element-wise, comparison and logical operators. Rows:
// elementwise.cc, logical.cc.
#include "dialects/pd/ops/infer_elementwise.h"

#include "dialects/pd/ops/declared.h"

namespace dtranspile::pd {
namespace {

// Extent of the result, nothing when they do not fit. Of an unknown extent and one above 1 the
// latter: the former is it or 1.
std::optional<int64_t> broadcastExtent(int64_t a, int64_t b) {
  if (a == 1 || a == b) return b;
  if (b == 1) return a;
  if (!known(a)) return b;
  if (!known(b)) return a;
  return std::nullopt;
}

int64_t axisAttr(const OpView& op) {
  return op.hasAttr("axis") || (op.spec() && op.spec()->attribute("axis")) ? op.getInt("axis") : -1;
}

}  // namespace

// The framework's broadcasting: the operand of lower rank is aligned with the other one at `axis`,
// or at the right for -1.
std::optional<Dims> broadcastDims(DimsRef x, DimsRef y, int64_t axis) {
  if (x.size() < y.size()) std::swap(x, y);
  if (axis == -1 || x.size() == y.size()) axis = x.size() - y.size();
  // Trailing ones never matter where both are aligned at the right, and must go where they are not.
  while (!y.empty() && y.back() == 1) y = y.drop_back();
  if (axis < 0 || (!y.empty() && axis + y.size() > x.size())) return std::nullopt;
  Dims result(x.begin(), x.end());
  for (size_t i = 0; i < y.size(); ++i) {
    std::optional<int64_t> extent = broadcastExtent(x[axis + i], y[i]);
    if (!extent) return std::nullopt;
    result[axis + i] = *extent;
  }
  return result;
}

// The sequences of X stay; those of Y count only where X is a scalar.
llvm::LogicalResult inferElementwise(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *y = require(c, "Y");
  if (!x || !y) return llvm::failure();
  if (!x->rankKnown || !y->rankKnown) {
    c.out("Out", unknownLike(*x));
    return llvm::success();
  }
  std::optional<Dims> dims = broadcastDims(x->dims, y->dims, axisAttr(c.op()));
  if (!dims)
    return c.fail("cannot broadcast X " + textOf(x->dims) + " and Y " + textOf(y->dims) +
                  " with axis " + llvm::Twine(axisAttr(c.op())));
  TensorInfo out = withDims(*x, *dims);
  out.lodLevel = std::max(x->lodLevel, x->dims.empty() ? y->lodLevel : 0);
  c.out("Out", out);
  return llvm::success();
}

llvm::LogicalResult inferProductSecondGradient(InferContext& c) {
  for (auto [output, input] : {std::pair{"DDOut", "DOut"}, {"X@GRAD", "X"}, {"Y@GRAD", "Y"}}) {
    if (const TensorInfo* info = c.in(input)) c.out(output, *info);
  }
  return llvm::success();
}

llvm::LogicalResult inferSumThirdGradient(InferContext& c) {
  for (auto [output, input] : {std::pair{"D_DDX", "DDX"}, {"D_DDY", "DDY"}})
    if (const TensorInfo* info = c.in(input)) c.out(output, *info);
  return llvm::success();
}

llvm::LogicalResult inferProductThirdGradient(InferContext& c) {
  for (auto [output, input] :
       {std::pair{"D_DDX", "X"}, {"D_DDY", "Y"}, {"D_DOut", "DOut"}, {"D_X", "X"}, {"D_Y", "Y"}})
    if (const TensorInfo* info = c.in(input)) c.out(output, *info);
  return llvm::success();
}

llvm::LogicalResult inferQuotientSecondGradient(InferContext& c) {
  for (auto [output, input] : {std::pair{"DDOut", "Out"}, {"DOut", "Out"}, {"Y@GRAD", "Y"}}) {
    if (const TensorInfo* info = c.in(input)) c.out(output, *info);
  }
  return llvm::success();
}

// fused_elemwise_activation: a pair of functors, a unary and a binary one, in either order; what is
// between them has the extents of what the inner one takes.
llvm::LogicalResult inferFusedActivation(InferContext& c) {
  if (failed(inferElementwise(c))) return llvm::failure();
  const TensorInfo *x = require(c, "X"), *y = require(c, "Y");
  if (!x || !y) return llvm::failure();
  // Nobody writes it unless it is saved.
  const std::vector<std::string> functors = c.op().getStrings("functor_list");
  if (!c.op().getBool("save_intermediate_out")) c.out("IntermediateOut", withDims(*x, {0}));
  else
    c.out("IntermediateOut",
          !functors.empty() && llvm::StringRef(functors[0]).starts_with("elementwise_") ? *y : *x);
  return llvm::success();
}

bool isWhole(DType type) {
  for (DType whole :
       {DType::kBool, DType::kInt8, DType::kUInt8, DType::kInt16, DType::kInt32, DType::kInt64})
    if (type == whole) return true;
  return false;
}

llvm::LogicalResult inferAtan2(InferContext& c) {
  const TensorInfo* x = require(c, "X1");
  if (!x) return llvm::failure();
  TensorInfo out = *x;
  if (isWhole(x->dtype)) out.dtype = DType::kFloat64;
  c.out("Out", out);
  return llvm::success();
}

llvm::LogicalResult inferCompare(InferContext& c) {
  const TensorInfo *x = require(c, "X"), *y = require(c, "Y");
  if (!x || !y) return llvm::failure();
  TensorInfo out = *x;
  out.dtype = DType::kBool;
  if (!x->rankKnown || !y->rankKnown) {
    c.out("Out", unknownLike(out));
    return llvm::success();
  }
  std::optional<Dims> dims = broadcastDims(x->dims, y->dims, axisAttr(c.op()));
  if (!dims) return c.fail("cannot broadcast X " + textOf(x->dims) + " and Y " + textOf(y->dims));
  c.out("Out", withDims(out, *dims));
  return llvm::success();
}

llvm::LogicalResult inferLogicalNot(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  if (!x) return llvm::failure();
  TensorInfo out = *x;
  out.dtype = DType::kBool;
  c.out("Out", out);
  return llvm::success();
}

llvm::LogicalResult inferWholeTest(InferContext& c) {
  c.out("Out", tensorInfo(DType::kBool, scalarDims(c)));
  return llvm::success();
}

// Adds dense tensors, sparse gradients and arrays, in any mixture of the first two.
llvm::LogicalResult inferSum(InferContext& c) {
  const TensorInfo* result = nullptr;
  std::optional<Dims> dims;
  for (unsigned i = 0, n = c.inCount("X"); i < n; ++i) {
    const TensorInfo* x = c.in("X", i);
    if (!x) continue;
    // Any dense argument makes the result dense.
    if (!result || (result->kind == Kind::SelectedRows && x->kind == Kind::Tensor)) result = x;
    // An extent of 0 is a tensor that nobody has written yet: the framework skips it.
    if (!x->rankKnown || llvm::is_contained(x->dims, 0)) continue;
    if (dims && x->kind != Kind::TensorArray && !agree(*dims, x->dims))
      return c.fail("adds X[" + llvm::Twine(i) + "] " + textOf(x->dims) + " to " + textOf(*dims));
    if (!dims) dims = x->dims;
    for (size_t d = 0; d < std::min(dims->size(), x->dims.size()); ++d)
      if (!known((*dims)[d])) (*dims)[d] = x->dims[d];
  }
  if (!result) return c.fail("needs an argument in input slot 'X'");
  c.out("Out", dims ? withDims(*result, *dims) : *result);
  return llvm::success();
}

llvm::LogicalResult inferCast(InferContext& c) {
  const TensorInfo* x = require(c, "X");
  std::optional<DType> dtype = dtypeAttr(c, "out_dtype");
  if (!x || !dtype) return llvm::failure();
  TensorInfo out = *x;
  out.dtype = *dtype;
  c.out("Out", out);
  return llvm::success();
}

llvm::LogicalResult inferWhere(InferContext& c) {
  const TensorInfo *condition = require(c, "Condition"), *x = require(c, "X"), *y = require(c, "Y");
  if (!condition || !x || !y) return llvm::failure();
  std::optional<Dims> dims = broadcastDims(x->dims, y->dims, -1);
  if (dims) dims = broadcastDims(*dims, condition->dims, -1);
  if (!dims)
    return c.fail("cannot broadcast Condition " + textOf(condition->dims) + ", X " +
                  textOf(x->dims) + " and Y " + textOf(y->dims));
  c.out("Out", withDims(*x, *dims));
  return llvm::success();
}

llvm::LogicalResult inferWhereIndex(InferContext& c) {
  const TensorInfo* condition = require(c, "Condition");
  if (!condition) return llvm::failure();
  c.out("Out", tensorInfo(DType::kInt64, {-1, condition->rankKnown ? condition->rank() : -1}));
  return llvm::success();
}

const Constraint kBroadcastConstraints[2] = {
    {"C1", "axis must be -1 or a position in the operand of higher rank",
     [](const OpView& op, std::string& found) {
       std::optional<Dims> x = declaredDims(op, "X"), y = declaredDims(op, "Y");
       int64_t axis = axisAttr(op);
       if (!x || !y || (axis >= -1 && axis <= static_cast<int64_t>(std::max(x->size(), y->size()))))
         return llvm::success();
       found = "axis " + std::to_string(axis) + ", X " + textOf(*x) + ", Y " + textOf(*y);
       return llvm::failure();
     }},
    {"C2", "X and Y must be broadcastable",
     [](const OpView& op, std::string& found) {
       std::optional<Dims> x = declaredDims(op, "X"), y = declaredDims(op, "Y");
       if (!x || !y || broadcastDims(*x, *y, axisAttr(op))) return llvm::success();
       found = "X " + textOf(*x) + ", Y " + textOf(*y) + ", axis " + std::to_string(axisAttr(op));
       return llvm::failure();
     }},
};

const Constraint kSumConstraints[1] = {
    {"C1", "dense operands must have equal extents",
     [](const OpView& op, std::string& found) {
       std::optional<Dims> first;
       for (unsigned i = 0, n = op.inputCount("X"); i < n; ++i) {
         std::optional<Dims> dims = declaredDims(op, "X", i);
         if (!dims || llvm::is_contained(*dims, 0)) continue;
         if (!first) first = dims;
         if (agree(*first, *dims)) continue;
         found = "X[" + std::to_string(i) + "] " + textOf(*dims) + " beside " + textOf(*first);
         return llvm::failure();
       }
       return llvm::success();
     }},
};

}  // namespace dtranspile::pd
