// Rows of the op table: family `shape`. Notation: op_table.h; read by op_table.cc.

#include "dialects/pd/ops/families.h"
#include "dialects/pd/ops/infer_common.h"
#include "dialects/pd/ops/infer_movement.h"
#include "dialects/pd/ops/infer_shape.h"

namespace dtranspile::pd {
namespace {

constexpr const char* kPad2dAttributes =
    "paddings:is, pad_value:f=0, mode:s=constant, data_format:s=NCHW";

constexpr const char* kPad3dAttributes =
    "paddings:is, mode:s=constant, value:f=0, data_format:s=NCDHW";

constexpr const char* kTemporalShiftAttributes =
    "seg_num:i, shift_ratio:f=0.25, data_format:s=NCHW";

constexpr const char* kUnfoldAttributes = "kernel_sizes:is, strides:is, paddings:is, dilations:is";

constexpr const char* kFoldAttributes =
    "output_sizes:is, kernel_sizes:is, strides:is, paddings:is, dilations:is";

constexpr const char* kIm2sequenceAttributes =
    "kernels:is, strides:is={1,1}, paddings:is={0,0,0,0}, out_stride:is={1,1}";

constexpr const char* kFrameAttributes = "frame_length:i, hop_length:i, axis:i=-1";

const OpRow kRows[] = {
    {"reshape", "X, Shape?, ShapeTensor* -> Out", "shape:is={}", kPure, inferReshape},
    {"reshape_grad",
     "Out?, Out@GRAD, Shape?, ShapeTensor*, X? -> Shape@GRAD?, ShapeTensor@GRAD*, X@GRAD?",
     "shape:is={}", kPure, inferFromXShape},
    {"reshape2", "X, Shape?, ShapeTensor* -> Out, XShape?", "shape:is={}", kPure, inferReshape},
    {"reshape2_grad", "Out@GRAD, XShape -> X@GRAD?", "shape:is={}", kPure, inferFromXShape},
    {"reshape2_grad_grad", "DOut, DDX, ShapeTensor? -> DDOut?", "shape:is={}", kGradient,
     inferSame<"DOut", "DDOut">},
    {"squeeze", "X -> Out", "axes:is={}", kPure, inferSqueeze},
    {"squeeze_grad", "Out@GRAD, X? -> X@GRAD?", "axes:is={}", kPure, inferFromXShape},
    {"squeeze2", "X -> Out, XShape?", "axes:is={}", kPure, inferSqueeze},
    {"squeeze2_grad", "Out@GRAD, XShape -> X@GRAD?", "axes:is={}", kPure, inferFromXShape},
    {"unsqueeze", "X, AxesTensor?, AxesTensorList* -> Out", "axes:is={}", kPure, inferUnsqueeze},
    {"unsqueeze_grad", "Out@GRAD, X? -> X@GRAD?", "axes:is={}", kPure, inferFromXShape},
    {"unsqueeze2", "X, AxesTensor?, AxesTensorList* -> Out, XShape?", "axes:is={}", kPure,
     inferUnsqueeze},
    {"unsqueeze2_grad", "Out@GRAD, XShape, AxesTensor?, AxesTensorList* -> X@GRAD?", "axes:is={}",
     kPure, inferFromXShape},
    {"flatten", "X -> Out", "axis:i=1", kPure, inferFlatten},
    {"flatten_grad", "Out@GRAD, X? -> X@GRAD?", "axis:i=1", kPure, inferFromXShape},
    {"flatten2", "X -> Out, XShape?", "axis:i=1", kPure, inferFlatten},
    {"flatten2_grad", "Out@GRAD, XShape? -> X@GRAD?", "axis:i=1", kPure, inferFromXShape},
    {"flatten_contiguous_range", "X -> Out, XShape?", "start_axis:i=1, stop_axis:i=1", kPure,
     inferFlattenRange},
    {"flatten_contiguous_range_grad", "Out@GRAD, XShape? -> X@GRAD?",
     "start_axis:i=1, stop_axis:i=1", kPure, inferFromXShape},
    {"transpose", "X -> Out", "axis:is, data_format:s=AnyLayout", kPure, inferTranspose,
     kTransposeConstraints},
    {"transpose_grad", "Out?, Out@GRAD, X? -> X@GRAD?", "axis:is, data_format:s=AnyLayout", kPure,
     inferTransposeGrad, kTransposeGradConstraints},
    {"transpose2", "X -> Out, XShape?", "axis:is, data_format:s=AnyLayout", kPure, inferTranspose,
     kTransposeConstraints},
    {"transpose2_grad", "Out@GRAD, XShape -> X@GRAD?", "axis:is, data_format:s=AnyLayout", kPure,
     inferTransposeGrad, kTransposeGradConstraints},
    {"concat", "X+, AxisTensor? -> Out", "axis:i=0, sections:is={}, num:i=0", kPure, inferConcat,
     kConcatConstraints},
    {"concat_grad", "AxisTensor?, Out@GRAD, X+ -> X@GRAD*", "axis:i=0, sections:is={}, num:i=0",
     kPure, inferGradients},
    {"split", "X, AxisTensor?, SectionsTensorList* -> Out*", "sections:is={}, num:i=0, axis:i=0",
     kPure, inferSplit, kSplitConstraints},
    {"stack", "X+ -> Y", "axis:i=0", kPure, inferStack},
    {"stack_grad", "Y@GRAD, X* -> X@GRAD*", "axis:i=0", kPure, inferStackGrad},
    {"unstack", "X -> Y*", "axis:i=0, num:i=0", kPure, inferUnstack},
    {"unstack_grad", "Y@GRAD+ -> X@GRAD?", "axis:i=0, num:i=0", kPure, inferUnstackGrad},
    {"unbind", "X -> Out*", "axis:i=0", kPure, inferUnstack},
    {"expand", "X, ExpandTimes?, expand_times_tensor* -> Out", "expand_times:is={}", kPure,
     inferExpand},
    {"expand_grad", "ExpandTimes?, Out@GRAD, X?, expand_times_tensor* -> X@GRAD?",
     "expand_times:is={}", kPure, inferGradients},
    {"expand_as", "X, target_tensor -> Out", "", kPure, inferExpandAs},
    {"expand_as_grad", "Out@GRAD, X?, target_tensor? -> X@GRAD?", "", kPure, inferGradients},
    {"expand_v2", "X, Shape?, expand_shapes_tensor* -> Out", "shape:is={}", kPure, inferExpandV2},
    {"expand_v2_grad", "Out@GRAD, Shape?, X?, expand_shapes_tensor* -> X@GRAD?", "shape:is={}",
     kPure, inferGradients},
    {"expand_as_v2", "X, Y? -> Out", "target_shape:is={}", kPure, inferExpandAs},
    {"expand_as_v2_grad", "Out@GRAD, X? -> X@GRAD?", "target_shape:is={}", kPure, inferGradients},
    {"tile", "X, RepeatTimes?, repeat_times_tensor* -> Out", "repeat_times:is={}", kPure,
     inferExpand},
    {"tile_grad", "Out@GRAD, RepeatTimes?, X?, repeat_times_tensor* -> X@GRAD?",
     "repeat_times:is={}", kPure, inferGradients},
    {"repeat_interleave", "X, RepeatsTensor? -> Out", "Repeats:i=0, dim:i=0", kPure,
     inferRepeatInterleave},
    {"repeat_interleave_grad", "Out@GRAD, RepeatsTensor?, X? -> X@GRAD?", "Repeats:i=0, dim:i=0",
     kPure, inferGradients},
    {"shape", "Input -> Out", "", kPure, inferShapeOp},
    {"size", "Input -> Out", "", kPure, inferSizeOp},
    {"pad", "X -> Out", "paddings:is, pad_value:f=0", kPure, inferPad},
    {"pad_grad", "Out@GRAD -> X@GRAD?", "paddings:is, pad_value:f=0", kPure, inferPadGrad},
    {"pad2d", "X, Paddings? -> Out", kPad2dAttributes, kPure, inferPadImage},
    {"pad2d_grad", "Out@GRAD, Paddings?, X? -> X@GRAD?", kPad2dAttributes, kPure, inferGradients},
    {"pad3d", "X, Paddings? -> Out", kPad3dAttributes, kPure, inferPadImage},
    {"pad3d_grad", "Out@GRAD, Paddings?, X? -> X@GRAD?", kPad3dAttributes, kPure, inferGradients},
    {"pad_constant_like", "X, Y -> Out", "pad_value:f=0", kPure, inferSame<"X", "Out">},
    {"pad_constant_like_grad", "Out@GRAD, Y? -> Y@GRAD?", "pad_value:f=0", kPure, inferGradients},
    {"crop", "X, Y?, Offsets? -> Out", "offsets:is={}, shape:is={}", kPure, inferCrop},
    {"crop_grad", "Offsets?, Out@GRAD, X? -> X@GRAD?", "offsets:is={}, shape:is={}", kPure,
     inferGradients},
    {"crop_tensor", "X, Shape?, Offsets?, ShapeTensor*, OffsetsTensor* -> Out",
     "offsets:is={}, shape:is={}", kPure, inferCrop},
    {"crop_tensor_grad", "Offsets?, OffsetsTensor*, Out@GRAD, X? -> X@GRAD?",
     "offsets:is={}, shape:is={}", kPure, inferGradients},
    {"flip", "X -> Out", "dims:is={}, axis:is={}", kPure, inferSame<"X", "Out">},
    {"reverse", "X -> Out", "axis:is", kPure, inferSame<"X", "Out">},
    {"roll", "X, ShiftsTensor? -> Out", "shifts:ls={}, dims:ls={}, axis:ls={}", kPure,
     inferSame<"X", "Out">},
    {"roll_grad", "Out@GRAD, ShiftsTensor?, X? -> X@GRAD?", "shifts:ls={}, dims:ls={}, axis:ls={}",
     kPure, inferGradients},
    {"pixel_shuffle", "X -> Out", "upscale_factor:i=1, data_format:s=NCHW@1", kPure,
     inferChannelsToSpace},
    {"pixel_shuffle_grad", "Out@GRAD -> X@GRAD?", "upscale_factor:i=1, data_format:s=NCHW@1", kPure,
     inferSpaceToChannels},
    {"pixel_unshuffle", "X -> Out", "downscale_factor:i=1, data_format:s=NCHW", kPure,
     inferSpaceToChannels},
    {"pixel_unshuffle_grad", "Out@GRAD -> X@GRAD?", "downscale_factor:i=1, data_format:s=NCHW",
     kPure, inferChannelsToSpace},
    {"space_to_depth", "X -> Out", "blocksize:l=2", kPure, inferSpaceToChannels},
    {"space_to_depth_grad", "Out@GRAD, X? -> X@GRAD?", "blocksize:l=2", kPure, inferGradients},
    {"shuffle_channel", "X -> Out", "group:i=1", kPure, inferSame<"X", "Out">},
    {"shuffle_channel_grad", "Out@GRAD -> X@GRAD?", "group:i=1", kPure,
     inferSame<"Out@GRAD", "X@GRAD">},
    {"channel_shuffle", "X -> Out", "groups:i, data_format:s=NCHW", kPure, inferSame<"X", "Out">},
    {"channel_shuffle_grad", "Out@GRAD -> X@GRAD?", "groups:i, data_format:s=NCHW", kPure,
     inferSame<"Out@GRAD", "X@GRAD">},
    {"temporal_shift", "X -> Out", kTemporalShiftAttributes, kPure, inferSame<"X", "Out">},
    {"temporal_shift_grad", "Out@GRAD -> X@GRAD?", kTemporalShiftAttributes, kPure,
     inferSame<"Out@GRAD", "X@GRAD">},
    {"unfold", "X -> Y", kUnfoldAttributes, kPure, inferUnfold},
    {"unfold_grad", "X, Y@GRAD -> X@GRAD?", kUnfoldAttributes, kPure, inferGradients},
    {"fold", "X -> Y", kFoldAttributes, kPure, inferFold},
    {"fold_grad", "X?, Y@GRAD -> X@GRAD?", kFoldAttributes, kPure, inferGradients},
    {"im2sequence", "X, Y? -> Out", kIm2sequenceAttributes, kPure, inferIm2Sequence},
    {"im2sequence_grad", "Out@GRAD, X? -> X@GRAD?", kIm2sequenceAttributes, kPure, inferGradients},
    {"meshgrid", "X+ -> Out*", "", kPure, inferMeshgrid},
    {"meshgrid_grad", "X*, outputs@GRAD+ -> X@GRAD*", "", kPure, inferGradients},
    {"partial_concat", "X+ -> Out", "start_index:i=0, length:i=-1", kPure, inferPartial},
    {"partial_concat_grad", "X+, Out@GRAD -> X@GRAD*", "start_index:i=0, length:i=-1", kPure,
     inferGradients},
    {"partial_sum", "X+ -> Out", "start_index:i=0, length:i=-1", kPure, inferPartial},
    {"partial_sum_grad", "X+, Out@GRAD -> X@GRAD*", "start_index:i=0, length:i=-1", kPure,
     inferGradients},
    {"broadcast_tensors", "X+ -> Out*", "", kPure, inferBroadcastTensors},
    {"broadcast_tensors_grad", "X+, Out@GRAD+ -> X@GRAD*", "", kPure, inferGradients},
    {"frame", "X -> Out", kFrameAttributes, kPure, inferFrame},
    {"frame_grad", "X, Out@GRAD -> X@GRAD?", kFrameAttributes, kPure, inferGradients},
    {"overlap_add", "X -> Out", "hop_length:i, axis:i=-1", kPure, inferOverlapAdd},
    {"overlap_add_grad", "X, Out@GRAD -> X@GRAD?", "hop_length:i, axis:i=-1", kPure,
     inferGradients},
};

}  // namespace

Family shapeFamily() { return {"shape", kRows}; }

}  // namespace dtranspile::pd
