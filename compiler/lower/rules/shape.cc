// Lowering rules: family `shape`. Reshapes are views; what moves elements is a library call.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

using llvm::LogicalResult;

LogicalResult lowerView(OpLowering& op) { return op.view("X", "Out"); }
LogicalResult lowerViewGrad(OpLowering& op) { return op.view("Out@GRAD", "X@GRAD"); }

LogicalResult lowerTranspose(OpLowering& op) {
  auto x = op.in("X"), out = op.out("Out");
  if (!x || !out) return op.unsupported("an absent input");
  op.call("dt_transpose", {*x}, {*out}, {.ints = op.op().getInts("axis"), .anyExtents = true});
  return llvm::success();
}

LogicalResult lowerTransposeGrad(OpLowering& op) {
  auto gradient = op.in("Out@GRAD"), dx = op.out("X@GRAD");
  if (!gradient || !dx) return op.unsupported("an absent input");
  const std::vector<int64_t> axis = op.op().getInts("axis");
  std::vector<int64_t> inverse(axis.size());
  for (size_t i = 0; i < axis.size(); ++i) inverse[axis[i]] = static_cast<int64_t>(i);
  op.call("dt_transpose", {*gradient}, {*dx}, {.ints = inverse, .anyExtents = true});
  return llvm::success();
}

const LoweringRule kRules[] = {
    {"reshape", Inner::None, nullptr, lowerView},
    {"reshape_grad", Inner::None, nullptr, lowerViewGrad},
    {"reshape2", Inner::None, nullptr, lowerView},
    {"reshape2_grad", Inner::None, nullptr, lowerViewGrad},
    {"squeeze", Inner::None, nullptr, lowerView},
    {"squeeze_grad", Inner::None, nullptr, lowerViewGrad},
    {"squeeze2", Inner::None, nullptr, lowerView},
    {"squeeze2_grad", Inner::None, nullptr, lowerViewGrad},
    {"unsqueeze", Inner::None, nullptr, lowerView},
    {"unsqueeze_grad", Inner::None, nullptr, lowerViewGrad},
    {"unsqueeze2", Inner::None, nullptr, lowerView},
    {"unsqueeze2_grad", Inner::None, nullptr, lowerViewGrad},
    {"flatten", Inner::None, nullptr, lowerView},
    {"flatten_grad", Inner::None, nullptr, lowerViewGrad},
    {"flatten2", Inner::None, nullptr, lowerView},
    {"flatten2_grad", Inner::None, nullptr, lowerViewGrad},
    {"flatten_contiguous_range", Inner::None, nullptr, lowerView},
    {"flatten_contiguous_range_grad", Inner::None, nullptr, lowerViewGrad},
    {"transpose", Inner::None, nullptr, lowerTranspose},
    {"transpose_grad", Inner::None, nullptr, lowerTransposeGrad},
    {"transpose2", Inner::None, nullptr, lowerTranspose},
    {"transpose2_grad", Inner::None, nullptr, lowerTransposeGrad},
};

}  // namespace

RuleTable shapeRules() { return kRules; }

}  // namespace dtranspile::lower
