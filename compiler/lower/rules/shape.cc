// Lowering rules: family `shape`. Reshapes are views; what moves elements is a library call.
#include "compiler/lower/rules.h"

namespace dtranspile::lower {
namespace {

using llvm::LogicalResult;

LogicalResult lowerView(OpLowering& op) { return op.view("X", "Out"); }

// Pinned memory is an arena of its own: what goes there, and what comes back, is copied. All other
// places are the memory of the device that the program runs on.
LogicalResult lowerMemcpy(OpLowering& op) {
  constexpr int64_t kPinned = 2;
  const bool pinned = op.op().getInt("dst_place_type") == kPinned;
  return op.move("X", "Out", pinned ? exec::Memory::kPinned : exec::Memory::kHost);
}

LogicalResult lowerViewSecondGrad(OpLowering& op) { return op.view("DDX", "DDOut"); }
LogicalResult lowerViewGrad(OpLowering& op) { return op.view("Out@GRAD", "X@GRAD"); }

const LoweringRule kRules[] = {
    lowerRule("assign", lowerView, "dt_assign"),
    lowerRule("share_data", lowerView, "dt_assign"),
    lowerRule("memcpy", lowerMemcpy, "dt_assign"),
    lowerRule("reshape", lowerView, "dt_reshape2(XShape=-)"),
    lowerRule("reshape_grad", lowerViewGrad, "dt_reshape_back(XShape=-)"),
    lowerRule("reshape2", lowerView, "dt_reshape2"),
    lowerRule("reshape2_grad", lowerViewGrad, "dt_reshape_back(X=-)"),
    functionRule("reshape2_grad_grad", lowerViewSecondGrad),
    lowerRule("squeeze", lowerView, "dt_squeeze(XShape=-)"),
    lowerRule("squeeze_grad", lowerViewGrad, "dt_reshape_back(XShape=-)"),
    lowerRule("squeeze2", lowerView, "dt_squeeze"),
    lowerRule("squeeze2_grad", lowerViewGrad, "dt_reshape_back(X=-)"),
    lowerRule("unsqueeze", lowerView, "dt_unsqueeze(XShape=-)"),
    lowerRule("unsqueeze_grad", lowerViewGrad, "dt_reshape_back(XShape=-)"),
    lowerRule("unsqueeze2", lowerView, "dt_unsqueeze"),
    lowerRule("unsqueeze2_grad", lowerViewGrad, "dt_reshape_back(X=-)"),
    lowerRule("flatten", lowerView, "dt_flatten(XShape=-)"),
    lowerRule("flatten_grad", lowerViewGrad, "dt_reshape_back(XShape=-)"),
    lowerRule("flatten2", lowerView, "dt_flatten"),
    lowerRule("flatten2_grad", lowerViewGrad, "dt_reshape_back(X=-)"),
    lowerRule("flatten_contiguous_range", lowerView, "dt_flatten_range"),
    lowerRule("flatten_contiguous_range_grad", lowerViewGrad, "dt_reshape_back(X=-)"),
    callRule("transpose", "dt_transpose"),
    callRule("transpose_grad", "dt_transpose_back"),
    callRule("transpose2", "dt_transpose"),
    callRule("transpose2_grad", "dt_transpose_back"),
    callRule("concat", "dt_concat"),
    callRule("concat_grad", "dt_concat_grad"),
    callRule("split", "dt_split"),
    callRule("stack", "dt_stack"),
    callRule("stack_grad", "dt_unstack(X=Y@GRAD, Y=X@GRAD)"),
    callRule("unstack", "dt_unstack"),
    callRule("unstack_grad", "dt_stack(X=Y@GRAD, Y=X@GRAD)"),
    callRule("unbind", "dt_unstack(Y=Out)"),
    callRule("expand",
             "dt_tile(RepeatTimes=ExpandTimes, repeat_times_tensor=expand_times_tensor, "
             "repeat_times=expand_times)"),
    callRule("expand_grad",
             "dt_tile_grad(RepeatTimes=ExpandTimes, repeat_times_tensor=expand_times_tensor, "
             "repeat_times=expand_times)"),
    callRule("tile", "dt_tile"),
    callRule("tile_grad", "dt_tile_grad"),
    callRule("expand_v2", "dt_expand"),
    callRule("expand_v2_grad", "dt_expand_grad"),
    callRule("expand_as", "dt_tile_as"),
    callRule("expand_as_grad", "dt_tile_as_grad"),
    callRule("expand_as_v2", "dt_expand_as"),
    callRule("expand_as_v2_grad", "dt_expand_as_grad(Y=Out@GRAD)"),
    callRule("repeat_interleave", "dt_repeat_interleave"),
    callRule("repeat_interleave_grad", "dt_repeat_interleave_grad"),
    callRule("meshgrid", "dt_meshgrid"),
    callRule("meshgrid_grad", "dt_meshgrid_grad"),
    callRule("partial_concat", "dt_partial"),
    callRule("partial_concat_grad", "dt_partial_grad"),
    callRule("partial_sum", "dt_partial"),
    callRule("partial_sum_grad", "dt_partial_grad"),
    callRule("broadcast_tensors", "dt_broadcast_tensors"),
    callRule("broadcast_tensors_grad", "dt_broadcast_tensors_grad"),
    callRule("frame", "dt_frame"),
    callRule("frame_grad", "dt_frame_grad"),
    callRule("overlap_add", "dt_overlap_add"),
    callRule("overlap_add_grad", "dt_overlap_add_grad"),
    callRule("shape", "dt_shape"),
    callRule("size", "dt_size"),
    callRule("pad", "dt_pad"),
    callRule("pad_grad", "dt_unpad"),
    callRule("pad2d", "dt_pad2d"),
    callRule("pad2d_grad", "dt_pad2d_grad"),
    callRule("pad3d", "dt_pad3d(pad_value=value)"),
    callRule("pad3d_grad", "dt_pad3d_grad(pad_value=value)"),
    callRule("pad_constant_like", "dt_pad_constant_like"),
    callRule("pad_constant_like_grad", "dt_pad_constant_like_grad"),
    callRule("crop", "dt_crop(OffsetsTensor=-)"),
    callRule("crop_grad", "dt_crop_grad(Y=Out@GRAD, OffsetsTensor=-)"),
    callRule("crop_tensor", "dt_crop_tensor"),
    callRule("crop_tensor_grad", "dt_crop_grad(Y=Out@GRAD)"),
    callRule("flip", "dt_flip"),
    callRule("reverse", "dt_flip(dims=axis)"),
    callRule("roll", "dt_roll"),
    callRule("roll_grad", "dt_roll_grad"),
    callRule("pixel_shuffle", "dt_pixel_shuffle"),
    callRule("pixel_shuffle_grad",
             "dt_pixel_unshuffle(X=Out@GRAD, downscale_factor=upscale_factor, Out=X@GRAD)"),
    callRule("pixel_unshuffle", "dt_pixel_unshuffle"),
    callRule("pixel_unshuffle_grad",
             "dt_pixel_shuffle(X=Out@GRAD, upscale_factor=downscale_factor, Out=X@GRAD)"),
    callRule("space_to_depth", "dt_space_to_depth"),
    callRule("space_to_depth_grad", "dt_space_to_depth_grad"),
    callRule("shuffle_channel", "dt_shuffle_channel(groups=group, data_format=-)"),
    // The framework applies the same exchange to the gradient, not its inverse.
    callRule("shuffle_channel_grad",
             "dt_shuffle_channel(X=Out@GRAD, groups=group, data_format=-, Out=X@GRAD)"),
    callRule("channel_shuffle", "dt_shuffle_channel"),
    callRule("channel_shuffle_grad", "dt_shuffle_channel_back(X=Out@GRAD, Out=X@GRAD)"),
    callRule("temporal_shift", "dt_temporal_shift"),
    callRule("temporal_shift_grad", "dt_temporal_shift(X=Out@GRAD, Out=X@GRAD)"),
    callRule("unfold", "dt_unfold"),
    callRule("unfold_grad", "dt_unfold_grad"),
    callRule("fold", "dt_fold"),
    callRule("fold_grad", "dt_fold_grad"),
    callRule("im2sequence", "dt_im2sequence"),
    callRule("im2sequence_grad", "dt_im2sequence_grad"),
};

}  // namespace

RuleTable shapeRules() { return kRules; }

}  // namespace dtranspile::lower
