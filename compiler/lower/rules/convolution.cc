// Lowering rules: family `convolution`: library calls.
#include <algorithm>

#include "compiler/lower/rules.h"
#include "dialects/pd/ops/infer_convolution.h"

namespace dtranspile::lower {
namespace {

using llvm::LogicalResult;

// The extents of the filter's windows.
llvm::ArrayRef<int64_t> kernelOf(const TensorRef& filter) {
  return llvm::ArrayRef<int64_t>(filter.dims).drop_front(std::min<size_t>(2, filter.dims.size()));
}

// Whether `windows` below exist and `others` have the rank of x. Inference sees to that for an op,
// not for its gradient. No dims may be a rank that only the run knows.
LogicalResult checkWindows(OpLowering& op, const TensorRef& x, llvm::ArrayRef<int64_t> kernel,
                           bool pool, std::initializer_list<TensorRef> others) {
  bool ranks = !kernel.empty() && x.dims.size() == kernel.size() + 2;
  for (const TensorRef& other : others) ranks = ranks && other.dims.size() == x.dims.size();
  std::string error = "has windows over " + std::to_string(kernel.size()) +
                      " axes, but not as many spatial axes in each argument";
  if (ranks) {
    const auto extents =
        llvm::ArrayRef<int64_t>(x.dims).slice(pd::channelsLast(op.op()) ? 1 : 2, kernel.size());
    if (pd::windowsOf(op.op(), {.input = extents, .kernel = kernel, .isPool = pool}, error))
      return llvm::success();
  }
  return op.op().operation()->emitError() << op.op().type() << ": " << error;
}

// Windows over the spatial dims of x.
llvm::SmallVector<pd::Window, 3> windows(const pd::OpView& op, const TensorRef& x,
                                         llvm::ArrayRef<int64_t> kernel, bool pool) {
  auto extents = llvm::ArrayRef<int64_t>(x.dims).slice(pd::channelsLast(op) ? 1 : 2, kernel.size());
  std::string error;
  return *pd::windowsOf(op, {.input = extents, .kernel = kernel, .isPool = pool}, error);
}

using CallArguments = OpLowering::CallArguments;

// The attributes of conv.h.
CallArguments convolution(const pd::OpView& op, llvm::ArrayRef<pd::Window> axes) {
  std::vector<int64_t> strides, paddings, dilations;
  for (const pd::Window& w : axes) {
    strides.push_back(w.stride);
    paddings.insert(paddings.end(), {w.before, w.after});
    dilations.push_back(w.dilation);
  }
  return {.attributes = {{"strides", strides},
                         {"paddings", paddings},
                         {"dilations", dilations},
                         {"groups", op.getInt("groups")},
                         {"channels_last", pd::channelsLast(op)}}};
}

CallArguments convolution(const pd::OpView& op, const TensorRef& x, const TensorRef& filter) {
  return convolution(op, windows(op, x, kernelOf(filter), false));
}

CallArguments with(CallArguments call, std::vector<std::pair<llvm::StringRef, TensorRef>> tensors) {
  call.tensors = std::move(tensors);
  return call;
}

// Whether the spatial extents are known: the kernels find the batch themselves.
bool spatialKnown(const pd::OpView& op, const TensorRef& x) {
  auto extents =
      llvm::ArrayRef<int64_t>(x.dims).slice(pd::channelsLast(op) ? 1 : 2, x.dims.size() - 2);
  return llvm::all_of(extents, [](int64_t extent) { return extent >= 0; });
}

bool hasAttribute(const pd::OpView& op, llvm::StringRef name) {
  return op.spec() && op.spec()->attribute(name);
}
bool flag(const pd::OpView& op, llvm::StringRef name, bool otherwise) {
  return hasAttribute(op, name) ? op.getBool(name) : otherwise;
}

// What passes for inference fuse into a convolution: Bias along the channels, ResidualData, relu.
LogicalResult withEpilogue(OpLowering& op, const TensorRef& out,
                           llvm::function_ref<void(const TensorRef&)> convolve) {
  const pd::OpView& v = op.op();
  const std::string activation =
      hasAttribute(v, "fuse_activation") ? v.getString("fuse_activation") : "";
  // Only the framework's kernels of oneDNN look at it.
  const bool relu =
      v.getBool("use_mkldnn") && (flag(v, "fuse_relu", false) || activation == "relu");
  if (!activation.empty() && activation != "relu")
    return op.unsupported("fuse_activation " + activation);
  if (!op.has("Bias") && !op.has("ResidualData") && !relu) return convolve(out), llvm::success();
  const TensorRef plain = op.temporary("convolution", out.dtype, out.dims);
  convolve(plain);
  OpLowering::Bindings bindings;
  bindings.tensors = {{"plain", plain}};
  bindings.numbers = {{"relu", relu}};
  bindings.axes = {{"Bias", pd::channelsLast(v) ? static_cast<int>(out.dims.size()) - 1 : 1}};
  return op.formula("y = plain + or(Bias, 0) + or(ResidualData, 0); Output = relu ? max(y, 0) : y",
                    bindings);
}

// The batch may be known only to the run: the kernel finds it in its arguments, if the spatial
// extents are known.
LogicalResult lowerConv(OpLowering& op) {
  auto x = op.in("Input"), filter = op.in("Filter"), out = op.out("Output");
  if (!x || !filter || !out) return op.unsupported("an absent input");
  if (failed(checkWindows(op, *x, kernelOf(*filter), false, {*out}))) return llvm::failure();
  return withEpilogue(op, *out, [&](const TensorRef& to) {
    CallArguments call = convolution(op.op(), *x, *filter);
    call.anyExtents = spatialKnown(op.op(), *x);
    op.call("dt_conv", with(call, {{"Input", *x}, {"Filter", *filter}, {"Output", to}}));
  });
}

// Each of the two gradients is a call of its own, made only where somebody wants it.
LogicalResult lowerConvGrad(OpLowering& op) {
  auto x = op.in("Input"), filter = op.in("Filter"), gradient = op.in("Output@GRAD"),
       dx = op.out("Input@GRAD"), df = op.out("Filter@GRAD");
  if (!x || !filter || !gradient || op.out("Bias@GRAD"))
    return op.unsupported("an absent input or a fused bias");
  if (failed(checkWindows(op, *x, kernelOf(*filter), false, {*gradient}))) return llvm::failure();
  CallArguments call = convolution(op.op(), *x, *filter);
  call.anyExtents = spatialKnown(op.op(), *x);
  if (dx) {
    call.tensors = {{"Filter", *filter}, {"Output@GRAD", *gradient}, {"Input@GRAD", *dx}};
    if (op.hasUnknown()) call.tensors.emplace_back("Input", *x);  // which has its extents
    op.call("dt_conv_bwd_data", call);
  }
  if (df)
    op.call("dt_conv_bwd_weights",
            with(call, {{"Input", *x}, {"Output@GRAD", *gradient}, {"Filter@GRAD", *df}}));
  return llvm::success();
}

// The gradient of a convolution's gradients, which are products of their factors too. With what
// flows into those, `ddx` and `ddf`: grad_out@GRAD = ddx * F + X * ddf; Input@GRAD and Filter@GRAD
// are the gradients of X * ddf by X and of ddx * F by F.
LogicalResult lowerConvSecondGrad(OpLowering& op) {
  auto x = op.in("Input"), filter = op.in("Filter"), gradient = op.in("grad_out"),
       ddx = op.in("grad_input@GRAD"), ddf = op.in("grad_filter@GRAD"), dx = op.out("Input@GRAD"),
       df = op.out("Filter@GRAD"), ddout = op.out("grad_out@GRAD");
  if (!x || !filter || !gradient) return op.unsupported("an absent input");
  if (op.hasUnknown()) return op.unsupported("extents that depend on data");
  if (failed(checkWindows(op, *x, kernelOf(*filter), false, {*gradient}))) return llvm::failure();
  const CallArguments call = convolution(op.op(), *x, *filter);
  if (ddout) {
    OpLowering::Bindings bindings;
    std::string text = "grad_out@GRAD = 0 * grad_out";
    for (auto [input, kernel] : {std::pair{ddx, filter}, {x, ddf}}) {
      if (!input || !kernel) continue;
      const std::string name = "t" + std::to_string(bindings.tensors.size());
      bindings.tensors.emplace_back(name, op.temporary("term", ddout->dtype, ddout->dims));
      text += " + " + name;
      op.call("dt_conv", with(call, {{"Input", *input},
                                     {"Filter", *kernel},
                                     {"Output", bindings.tensors.back().second}}));
    }
    if (failed(op.formula(text, bindings))) return llvm::failure();
  }
  if (dx && ddf)
    op.call("dt_conv_bwd_data",
            with(call, {{"Filter", *ddf}, {"Output@GRAD", *gradient}, {"Input@GRAD", *dx}}));
  else if (dx && failed(op.formula("Input@GRAD = 0 * Input"))) return llvm::failure();
  if (df && ddx)
    op.call("dt_conv_bwd_weights",
            with(call, {{"Input", *ddx}, {"Output@GRAD", *gradient}, {"Filter@GRAD", *df}}));
  else if (df) return op.formula("Filter@GRAD = 0 * Filter");
  return llvm::success();
}

// A transposed convolution is the gradient, by its input, of the convolution that makes `x` of
// `out`. Padding after an axis is cut to what that convolution reaches: elements of `out` after
// its last window get 0.
CallArguments transposed(const pd::OpView& op, const TensorRef& x, const TensorRef& filter,
                         const TensorRef& out) {
  auto axes = windows(op, x, kernelOf(filter), false);
  const size_t first = pd::channelsLast(op) ? 1 : 2;
  for (auto [i, w] : llvm::enumerate(axes)) {
    const int64_t reach = (w.input - 1) * w.stride + w.dilation * (w.kernel - 1) + 1;
    w.after = std::min(w.after, reach + w.stride - 1 - w.before - out.dims[first + i]);
  }
  return convolution(op, axes);
}

// The call is that of a convolution's gradient, with the roles exchanged: x in the place of the
// output's gradient.
LogicalResult lowerConvTranspose(OpLowering& op) {
  auto x = op.in("Input"), filter = op.in("Filter"), out = op.out("Output");
  if (!x || !filter || !out) return op.unsupported("an absent input");
  if (failed(checkWindows(op, *x, kernelOf(*filter), false, {*out}))) return llvm::failure();
  return withEpilogue(op, *out, [&](const TensorRef& to) {
    op.call("dt_conv_bwd_data",
            with(transposed(op.op(), *x, *filter, to),
                 {{"Filter", *filter}, {"Output@GRAD", *x}, {"Input@GRAD", to}}));
  });
}

// By the same exchange the gradient for x is a plain convolution of the gradient, and the filter's
// takes the two tensors in each other's place.
LogicalResult lowerConvTransposeGrad(OpLowering& op) {
  auto x = op.in("Input"), filter = op.in("Filter"), gradient = op.in("Output@GRAD"),
       dx = op.out("Input@GRAD"), df = op.out("Filter@GRAD");
  if (!x || !filter || !gradient || op.out("Bias@GRAD"))
    return op.unsupported("an absent input or a fused bias");
  if (failed(checkWindows(op, *x, kernelOf(*filter), false, {*gradient}))) return llvm::failure();
  const CallArguments call = transposed(op.op(), *x, *filter, *gradient);
  if (dx)
    op.call("dt_conv", with(call, {{"Input", *gradient}, {"Filter", *filter}, {"Output", *dx}}));
  if (df)
    op.call("dt_conv_bwd_weights",
            with(call, {{"Input", *gradient}, {"Output@GRAD", *x}, {"Filter@GRAD", *df}}));
  return llvm::success();
}

// Releases 1.x divide the sum of a window that is not exclusive by the elements of the kernel, 2.x
// by those of the window within the padded input.
int64_t divisorOf(const OpLowering& op) {
  const bool legacy = op.version() > 0 && op.version() < 2000000;
  return flag(op.op(), "exclusive", true) ? 1 : legacy ? 0 : 2;
}

// The attributes of pool.h.
// Global pooling is one window over everything, adaptive pooling cuts each axis into as many
// windows as the output has; neither has strides or paddings. Otherwise the windows are those of
// the attributes, by the same function as inference (pd::Window).
CallArguments pooling(OpLowering& op, const TensorRef& x, const std::vector<int64_t>& out,
                      int64_t divisor) {
  const pd::OpView& v = op.op();
  const std::vector<int64_t> kernel = v.getInts("ksize");
  const size_t axes = x.dims.size() - 2, first = pd::channelsLast(v) ? 1 : 2;
  const bool global = v.getBool("global_pooling"), adaptive = v.getBool("adaptive") && !global;
  llvm::SmallVector<pd::Window, 3> moving;
  if (!global && !adaptive) moving = windows(v, x, kernel, true);
  std::vector<int64_t> extents, strides, paddings;
  for (size_t i = 0; i < axes; ++i) {
    const bool whole = moving.empty();
    extents.push_back(whole ? x.dims[first + i] : kernel[i]);
    strides.push_back(whole ? 1 : moving[i].stride);
    paddings.push_back(whole ? 0 : moving[i].before);
  }
  const std::string kind = hasAttribute(v, "pooling_type") ? v.getString("pooling_type") : "max";
  CallArguments call{.attributes = {{"ksize", extents},
                                    {"strides", strides},
                                    {"paddings", paddings},
                                    {"divisor", divisor},
                                    {"adaptive", adaptive},
                                    {"channels_last", pd::channelsLast(v)},
                                    {"pooling_type", kind}},
                     .anyExtents = spatialKnown(v, x)};
  if (call.anyExtents && op.hasUnknown())
    call.attributes.emplace_back(
        "extents", std::vector<int64_t>(out.begin() + first, out.begin() + first + axes));
  return call;
}

// The extents of the kernel count for nothing where its windows are given otherwise.
LogicalResult checkPool(OpLowering& op, const TensorRef& x, const TensorRef& out) {
  const std::vector<int64_t> kernel = op.op().getInts("ksize");
  if (!op.op().getBool("global_pooling") && !op.op().getBool("adaptive"))
    return checkWindows(op, x, kernel, true, {out});
  return x.dims.size() > 2 && out.dims.size() == x.dims.size()
             ? llvm::success()
             : op.unsupported("an argument without spatial axes");
}

LogicalResult lowerPool(OpLowering& op) {
  auto x = op.in("X"), out = op.out("Out");
  if (!x || !out) return op.unsupported("an absent input");
  if (failed(checkPool(op, *x, *out))) return llvm::failure();
  op.call("dt_pool", with(pooling(op, *x, out->dims, divisorOf(op)), {{"X", *x}, {"Out", *out}}));
  return llvm::success();
}

// Of means only: which element was the largest is not among the inputs.
LogicalResult lowerPoolSecondGrad(OpLowering& op) {
  auto x = op.in("grad_x@GRAD"), out = op.out("grad_out@GRAD");
  if (!x || !out) return op.unsupported("an absent input");
  if (op.op().getString("pooling_type") != "avg")
    return op.unsupported("pooling_type '" + op.op().getString("pooling_type") + "'");
  if (failed(checkPool(op, *x, *out))) return llvm::failure();
  op.call("dt_pool", with(pooling(op, *x, out->dims, divisorOf(op)), {{"X", *x}, {"Out", *out}}));
  return llvm::success();
}

// The kernel writes both outputs; the one that nobody wants goes to a temporary.
LogicalResult lowerPoolWithIndex(OpLowering& op) {
  auto x = op.in("X"), out = op.out("Out"), mask = op.out("Mask");
  if (!x || (!out && !mask)) return op.unsupported("an absent input");
  if (failed(checkPool(op, *x, out ? *out : *mask))) return llvm::failure();
  const std::vector<int64_t> dims = out ? out->dims : mask->dims;
  op.call("dt_pool_index", with(pooling(op, *x, dims, 1),
                                {{"X", *x},
                                 {"Out", op.outOrTemporary("Out", x->dtype, dims)},
                                 {"Mask", op.outOrTemporary("Mask", DType::kInt32, dims)}}));
  return llvm::success();
}

LogicalResult lowerPoolGrad(OpLowering& op) {
  auto x = op.in("X"), out = op.in("Out"), gradient = op.in("Out@GRAD"), dx = op.out("X@GRAD");
  if (!x || !out || !gradient || !dx) return op.unsupported("an absent input");
  if (failed(checkPool(op, *x, *out))) return llvm::failure();
  op.call("dt_pool_bwd",
          with(pooling(op, *x, out->dims, divisorOf(op)),
               {{"X", *x}, {"Out", *out}, {"Out@GRAD", *gradient}, {"X@GRAD", *dx}}));
  return llvm::success();
}

const LoweringRule kRules[] = {
    functionRule("conv2d", lowerConv),
    functionRule("conv2d_grad", lowerConvGrad),
    functionRule("conv2d_grad_grad", lowerConvSecondGrad),
    functionRule("depthwise_conv2d_grad_grad", lowerConvSecondGrad),
    functionRule("conv3d_grad_grad", lowerConvSecondGrad),
    functionRule("depthwise_conv2d", lowerConv),
    functionRule("depthwise_conv2d_grad", lowerConvGrad),
    functionRule("conv3d", lowerConv),
    functionRule("conv3d_grad", lowerConvGrad),
    functionRule("conv2d_transpose", lowerConvTranspose),
    functionRule("conv2d_transpose_grad", lowerConvTransposeGrad),
    functionRule("depthwise_conv2d_transpose", lowerConvTranspose),
    functionRule("depthwise_conv2d_transpose_grad", lowerConvTransposeGrad),
    functionRule("conv3d_transpose", lowerConvTranspose),
    functionRule("conv3d_transpose_grad", lowerConvTransposeGrad),
    callRule("deformable_conv", "dt_deformable_conv"),
    callRule("deformable_conv_grad", "dt_deformable_conv_grad"),
    callRule("deformable_conv_v1", "dt_deformable_conv(Mask=-)"),
    callRule("deformable_conv_v1_grad", "dt_deformable_conv_grad(Mask=-, Mask@GRAD=-)"),
    callRule("conv_shift", "dt_conv_shift"),
    callRule("conv_shift_grad", "dt_conv_shift_grad"),
    callRule("row_conv", "dt_row_conv"),
    callRule("row_conv_grad", "dt_row_conv_grad"),
    callRule("tree_conv", "dt_tree_conv"),
    callRule("tree_conv_grad", "dt_tree_conv_grad"),
    functionRule("pool2d", lowerPool),
    functionRule("pool2d_grad", lowerPoolGrad),
    functionRule("pool2d_double_grad", lowerPoolSecondGrad),
    functionRule("pool3d", lowerPool),
    functionRule("pool3d_grad", lowerPoolGrad),
    functionRule("max_pool2d_with_index", lowerPoolWithIndex),
    callRule("max_pool2d_with_index_grad", "dt_max_pool_index_grad"),
    functionRule("max_pool3d_with_index", lowerPoolWithIndex),
    callRule("max_pool3d_with_index_grad", "dt_max_pool_index_grad"),
    callRule("unpool", "dt_unpool"),
    callRule("unpool_grad", "dt_unpool_grad"),
    callRule("unpool3d", "dt_unpool"),
    callRule("unpool3d_grad", "dt_unpool_grad"),
    callRule("spp", "dt_spp"),
    callRule("spp_grad", "dt_spp_grad"),
};

}  // namespace

RuleTable convolutionRules() { return kRules; }

}  // namespace dtranspile::lower
