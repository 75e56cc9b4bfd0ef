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
  for (size_t i = 0; i < axis.size(); ++i) {
    if (axis[i] < 0 || axis[i] >= static_cast<int64_t>(axis.size()))
      return op.unsupported("axis " + llvm::Twine(axis[i]) + " of " + llvm::Twine(axis.size()));
    inverse[axis[i]] = static_cast<int64_t>(i);
  }
  op.call("dt_transpose", {*gradient}, {*dx}, {.ints = inverse, .anyExtents = true});
  return llvm::success();
}

// Gradients of what is a view where all extents are known.
#define DT_RESHAPE_BACK "dt_reshape_back(X, XShape, Out@GRAD) -> X@GRAD"

const LoweringRule kRules[] = {
    lowerRule("assign", lowerView, "view", "dt_assign(X) -> Out"),
    lowerRule("reshape", lowerView, "view",
              "dt_reshape2(X, Shape, ShapeTensor; shape) -> Out, XShape"),
    lowerRule("reshape_grad", lowerViewGrad, "view", DT_RESHAPE_BACK),
    lowerRule("reshape2", lowerView, "view",
              "dt_reshape2(X, Shape, ShapeTensor; shape) -> Out, XShape"),
    lowerRule("reshape2_grad", lowerViewGrad, "view", DT_RESHAPE_BACK),
    lowerRule("squeeze", lowerView, "view", "dt_squeeze(X; axes) -> Out, XShape"),
    lowerRule("squeeze_grad", lowerViewGrad, "view", DT_RESHAPE_BACK),
    lowerRule("squeeze2", lowerView, "view", "dt_squeeze(X; axes) -> Out, XShape"),
    lowerRule("squeeze2_grad", lowerViewGrad, "view", DT_RESHAPE_BACK),
    lowerRule("unsqueeze", lowerView, "view",
              "dt_unsqueeze(X, AxesTensor, AxesTensorList; axes) -> Out, XShape"),
    lowerRule("unsqueeze_grad", lowerViewGrad, "view", DT_RESHAPE_BACK),
    lowerRule("unsqueeze2", lowerView, "view",
              "dt_unsqueeze(X, AxesTensor, AxesTensorList; axes) -> Out, XShape"),
    lowerRule("unsqueeze2_grad", lowerViewGrad, "view", DT_RESHAPE_BACK),
    lowerRule("flatten", lowerView, "view", "dt_flatten(X; axis) -> Out, XShape"),
    lowerRule("flatten_grad", lowerViewGrad, "view", DT_RESHAPE_BACK),
    lowerRule("flatten2", lowerView, "view", "dt_flatten(X; axis) -> Out, XShape"),
    lowerRule("flatten2_grad", lowerViewGrad, "view", DT_RESHAPE_BACK),
    lowerRule("flatten_contiguous_range", lowerView, "view",
              "dt_flatten_range(X; start_axis, stop_axis) -> Out, XShape"),
    lowerRule("flatten_contiguous_range_grad", lowerViewGrad, "view", DT_RESHAPE_BACK),
    functionRule("transpose", lowerTranspose, "dt_transpose"),
    functionRule("transpose_grad", lowerTransposeGrad, "dt_transpose"),
    functionRule("transpose2", lowerTranspose, "dt_transpose"),
    functionRule("transpose2_grad", lowerTransposeGrad, "dt_transpose"),
    callRule("concat", "dt_concat(X, AxisTensor; axis) -> Out"),
    callRule("concat_grad", "dt_concat_grad(X, AxisTensor, Out@GRAD; axis) -> X@GRAD"),
    callRule("split", "dt_split(X, AxisTensor, SectionsTensorList; sections, axis) -> Out"),
    callRule("stack", "dt_stack(X; axis) -> Y"),
    callRule("stack_grad", "dt_unstack(Y@GRAD; axis) -> X@GRAD"),
    callRule("unstack", "dt_unstack(X; axis) -> Y"),
    callRule("unstack_grad", "dt_stack(Y@GRAD; axis) -> X@GRAD"),
    callRule("unbind", "dt_unstack(X; axis) -> Out"),
    callRule("expand", "dt_tile(X, ExpandTimes, expand_times_tensor; expand_times) -> Out"),
    callRule("expand_grad",
             "dt_tile_grad(X, ExpandTimes, expand_times_tensor, Out@GRAD; expand_times) -> X@GRAD"),
    callRule("tile", "dt_tile(X, RepeatTimes, repeat_times_tensor; repeat_times) -> Out"),
    callRule("tile_grad",
             "dt_tile_grad(X, RepeatTimes, repeat_times_tensor, Out@GRAD; repeat_times) -> X@GRAD"),
    callRule("expand_v2", "dt_expand(X, Shape, expand_shapes_tensor; shape) -> Out"),
    callRule("expand_v2_grad",
             "dt_expand_grad(X, Shape, expand_shapes_tensor, Out@GRAD; shape) -> X@GRAD"),
    callRule("expand_as", "dt_tile_as(X, target_tensor) -> Out"),
    callRule("expand_as_grad", "dt_tile_as_grad(X, target_tensor, Out@GRAD) -> X@GRAD"),
    callRule("expand_as_v2", "dt_expand_as(X, Y; target_shape) -> Out"),
    callRule("expand_as_v2_grad", "dt_expand_as_grad(X, Out@GRAD; target_shape) -> X@GRAD"),
    callRule("repeat_interleave", "dt_repeat_interleave(X, RepeatsTensor; Repeats, dim) -> Out"),
    callRule("repeat_interleave_grad",
             "dt_repeat_interleave_grad(X, RepeatsTensor, Out@GRAD; Repeats, dim) -> X@GRAD"),
    callRule("meshgrid", "dt_meshgrid(X) -> Out"),
    callRule("meshgrid_grad", "dt_meshgrid_grad(X, outputs@GRAD) -> X@GRAD"),
    callRule("shape", "dt_shape(Input) -> Out"),
    callRule("size", "dt_size(Input; @version) -> Out"),
    callRule("pad", "dt_pad(X; paddings, pad_value) -> Out"),
    callRule("pad_grad", "dt_unpad(Out@GRAD; paddings) -> X@GRAD"),
    callRule("pad2d", "dt_pad2d(X, Paddings; paddings, mode, pad_value, data_format) -> Out"),
    callRule(
        "pad2d_grad",
        "dt_pad2d_grad(X, Paddings, Out@GRAD; paddings, mode, pad_value, data_format) -> X@GRAD"),
    callRule("pad3d", "dt_pad3d(X, Paddings; paddings, mode, value, data_format) -> Out"),
    callRule("pad3d_grad",
             "dt_pad3d_grad(X, Paddings, Out@GRAD; paddings, mode, value, data_format) -> X@GRAD"),
    callRule("pad_constant_like", "dt_pad_constant_like(X, Y; pad_value) -> Out"),
    callRule("pad_constant_like_grad", "dt_pad_constant_like_grad(Y, Out@GRAD) -> Y@GRAD"),
    callRule("crop", "dt_crop(X, Y, Offsets, OffsetsTensor; offsets, shape) -> Out"),
    callRule(
        "crop_grad",
        "dt_crop_grad(X, Out@GRAD, Offsets, OffsetsTensor, Out@GRAD; offsets, shape) -> X@GRAD"),
    callRule(
        "crop_tensor",
        "dt_crop_tensor(X, Shape, ShapeTensor, Offsets, OffsetsTensor; offsets, shape) -> Out"),
    callRule(
        "crop_tensor_grad",
        "dt_crop_grad(X, Out@GRAD, Offsets, OffsetsTensor, Out@GRAD; offsets, shape) -> X@GRAD"),
    callRule("flip", "dt_flip(X; axis, dims) -> Out"),
    callRule("reverse", "dt_flip(X; axis, axis) -> Out"),
    callRule("roll", "dt_roll(X, ShiftsTensor; shifts, axis, dims) -> Out"),
    callRule("roll_grad", "dt_roll_grad(X, ShiftsTensor, Out@GRAD; shifts, axis, dims) -> X@GRAD"),
    callRule("pixel_shuffle", "dt_pixel_shuffle(X; upscale_factor, data_format) -> Out"),
    callRule("pixel_shuffle_grad",
             "dt_pixel_unshuffle(Out@GRAD; upscale_factor, data_format) -> X@GRAD"),
    callRule("pixel_unshuffle", "dt_pixel_unshuffle(X; downscale_factor, data_format) -> Out"),
    callRule("pixel_unshuffle_grad",
             "dt_pixel_shuffle(Out@GRAD; downscale_factor, data_format) -> X@GRAD"),
    callRule("space_to_depth", "dt_space_to_depth(X; blocksize) -> Out"),
    callRule("space_to_depth_grad", "dt_space_to_depth_grad(X, Out@GRAD; blocksize) -> X@GRAD"),
    callRule("shuffle_channel", "dt_shuffle_channel(X; group) -> Out"),
    // The framework applies the same exchange to the gradient, not its inverse.
    callRule("shuffle_channel_grad", "dt_shuffle_channel(Out@GRAD; group) -> X@GRAD"),
    callRule("channel_shuffle", "dt_shuffle_channel(X; groups, data_format) -> Out"),
    callRule("channel_shuffle_grad",
             "dt_shuffle_channel_back(Out@GRAD; groups, data_format) -> X@GRAD"),
    callRule("temporal_shift",
             "dt_temporal_shift(X; seg_num, shift_ratio, data_format, @type) -> Out"),
    callRule("temporal_shift_grad",
             "dt_temporal_shift(Out@GRAD; seg_num, shift_ratio, data_format, @type) -> X@GRAD"),
    callRule("unfold", "dt_unfold(X; kernel_sizes, strides, paddings, dilations) -> Y"),
    callRule("unfold_grad",
             "dt_unfold_grad(X, Y@GRAD; kernel_sizes, strides, paddings, dilations) -> X@GRAD"),
    callRule("fold", "dt_fold(X; output_sizes, kernel_sizes, strides, paddings, dilations) -> Y"),
    callRule("fold_grad",
             "dt_fold_grad(X, Y@GRAD; output_sizes, kernel_sizes, strides, paddings, dilations) -> "
             "X@GRAD"),
    callRule("im2sequence", "dt_im2sequence(X; kernels, strides, paddings) -> Out"),
    callRule("im2sequence_grad",
             "dt_im2sequence_grad(X, Out@GRAD; kernels, strides, paddings) -> X@GRAD"),
};

}  // namespace

RuleTable shapeRules() { return kRules; }

}  // namespace dtranspile::lower
