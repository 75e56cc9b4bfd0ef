// Lowering rules: family `convolution`: library calls.
#include "compiler/lower/infer.h"
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

using llvm::LogicalResult;

bool channelLast(const pd::OpView& op) { return op.getString("data_format") == "NHWC"; }

// strideH, strideW, padTop, padBottom, padLeft, padRight, dilationH, dilationW, groups, layout
std::vector<int64_t> convolutionInts(const pd::OpView& op, const TensorRef& x, const TensorRef& filter) {
  const bool last = channelLast(op);
  const size_t h = last ? 1 : 2;
  auto strides = op.getInts("strides"), dilations = op.getInts("dilations");
  auto pads = spatialPaddings(op, {x.dims[h], x.dims[h + 1]}, {filter.dims[2], filter.dims[3]}, strides, dilations);
  return {strides[0], strides[1], pads[0], pads[1], pads[2], pads[3], dilations[0], dilations[1], op.getInt("groups"), last};
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
  const bool last = channelLast(op);
  const size_t h = last ? 1 : 2;
  auto kernel = op.getInts("ksize"), strides = op.getInts("strides");
  llvm::SmallVector<int64_t, 4> pads = {0, 0, 0, 0};
  if (op.getBool("global_pooling")) {
    kernel = {x.dims[h], x.dims[h + 1]};
  } else if (!op.getBool("adaptive")) {
    pads = spatialPaddings(op, {x.dims[h], x.dims[h + 1]}, kernel, strides, {1, 1});
  }
  return {.ints = {kernel[0], kernel[1], strides[0], strides[1], pads[0], pads[2], op.getBool("exclusive"), op.getBool("adaptive"), last},
          .strings = {op.getString("pooling_type")}};
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
