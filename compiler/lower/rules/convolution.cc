// Lowering rules: family `convolution`: library calls.
#include "compiler/lower/rules.h"
#include "dialects/pd/ops/infer_convolution.h"

namespace dtranspile::lower {
namespace {

using llvm::LogicalResult;

// Windows over height and width; inference has checked that they exist.
llvm::SmallVector<pd::Window, 3> windows(const pd::OpView& op, const TensorRef& x, llvm::ArrayRef<int64_t> kernel, bool pool) {
  const size_t h = pd::channelsLast(op) ? 1 : 2;
  const pd::Dims extents = {x.dims[h], x.dims[h + 1]};
  std::string error;
  return *pd::windowsOf(op, {.input = extents, .kernel = kernel, .isPool = pool}, error);
}

// strideH, strideW, padTop, padBottom, padLeft, padRight, dilationH, dilationW, groups, layout
std::vector<int64_t> convolutionInts(const pd::OpView& op, const TensorRef& x, const TensorRef& filter) {
  auto w = windows(op, x, {filter.dims[2], filter.dims[3]}, false);
  return {w[0].stride, w[1].stride, w[0].before, w[0].after, w[1].before, w[1].after, w[0].dilation, w[1].dilation, op.getInt("groups"), pd::channelsLast(op)};
}

LogicalResult lowerConv(OpLowering& op) {
  auto x = op.in("Input"), filter = op.in("Filter"), out = op.out("Output");
  if (op.has("Bias") || op.has("ResidualData")) return op.unsupported("a fused bias or residual");
  if (!x || !filter || !out) return op.unsupported("an absent input");
  op.call("dt_conv2d", {*x, *filter}, {*out}, {.ints = convolutionInts(op.op(), *x, *filter)});
  return llvm::success();
}

LogicalResult lowerConvGrad(OpLowering& op) {
  auto x = op.in("Input"), filter = op.in("Filter"), gradient = op.in("Output@GRAD"), dx = op.out("Input@GRAD"), df = op.out("Filter@GRAD");
  if (!x || !filter || !gradient || op.out("Bias@GRAD")) return op.unsupported("an absent input or a fused bias");
  const OpLowering::CallExtras extras{.ints = convolutionInts(op.op(), *x, *filter)};
  if (dx) op.call("dt_conv2d_bwd_data", {*filter, *gradient}, {*dx}, extras);
  if (df) op.call("dt_conv2d_bwd_weights", {*x, *gradient}, {*df}, extras);
  return llvm::success();
}

// kernelH, kernelW, strideH, strideW, padTop, padLeft, exclusive, adaptive, layout
OpLowering::CallExtras poolExtras(const pd::OpView& op, const TensorRef& x) {
  const size_t h = pd::channelsLast(op) ? 1 : 2;
  const bool global = op.getBool("global_pooling"), adaptive = op.getBool("adaptive");
  const std::vector<int64_t> kernel = op.getInts("ksize");
  std::vector<int64_t> ints = {x.dims[h], x.dims[h + 1], 1, 1, 0, 0};
  if (!global && !adaptive) {
    auto w = windows(op, x, kernel, true);
    ints = {kernel[0], kernel[1], w[0].stride, w[1].stride, w[0].before, w[1].before};
  }
  ints.insert(ints.end(), {op.getBool("exclusive"), adaptive && !global, pd::channelsLast(op)});
  return {.ints = ints, .strings = {op.getString("pooling_type")}};
}

LogicalResult lowerPool(OpLowering& op) {
  auto x = op.in("X"), out = op.out("Out");
  if (!x || !out) return op.unsupported("an absent input");
  op.call("dt_pool2d", {*x}, {*out}, poolExtras(op.op(), *x));
  return llvm::success();
}

LogicalResult lowerPoolGrad(OpLowering& op) {
  auto x = op.in("X"), out = op.in("Out"), gradient = op.in("Out@GRAD"), dx = op.out("X@GRAD");
  if (!x || !out || !gradient || !dx) return op.unsupported("an absent input");
  op.call("dt_pool2d_bwd", {*x, *out, *gradient}, {*dx}, poolExtras(op.op(), *x));
  return llvm::success();
}

const LoweringRule kRules[] = {
    {"conv2d", Inner::None, nullptr, lowerConv},
    {"conv2d_grad", Inner::None, nullptr, lowerConvGrad},
    {"depthwise_conv2d", Inner::None, nullptr, lowerConv},
    {"depthwise_conv2d_grad", Inner::None, nullptr, lowerConvGrad},
    {"pool2d", Inner::None, nullptr, lowerPool},
    {"pool2d_grad", Inner::None, nullptr, lowerPoolGrad},
};

}  // namespace

RuleTable convolutionRules() { return kRules; }

}  // namespace dtranspile::lower
