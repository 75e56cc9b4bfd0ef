// Rows of the PIR table: what moves elements or only renames them. Notation: op_mapping.h.
//
// Gradient ops of PIR read X where those of reshape2, squeeze2 … read XShape. So reshape and
// transpose take their first form, and the gradient of what only renames elements is that of
// reshape.
#include "compiler/import/pir/op_mapping.h"

namespace dtranspile::pir {
namespace {

const PirRow kRows[] = {
    {"reshape", "reshape", "X, #shape|Shape|ShapeTensor -> Out, @X?"},
    {"reshape_", "reshape", "X, #shape|Shape|ShapeTensor -> Out=X"},
    {"reshape_grad", "reshape_grad", "X, Out@GRAD -> X@GRAD"},
    {"transpose", "transpose", "X -> Out", "perm>axis"},
    {"transpose_grad", "transpose_grad", "Out@GRAD -> X@GRAD", "perm>axis"},
    {"squeeze", "squeeze2", "X, #axes -> Out, @X?, +XShape"},
    {"squeeze_grad", "reshape_grad", "X, Out@GRAD, ~Axes -> X@GRAD"},
    {"unsqueeze", "unsqueeze2", "X, #axes|AxesTensor -> Out, @X?, +XShape"},
    {"unsqueeze_grad", "reshape_grad", "X, Out@GRAD, ~Axes -> X@GRAD"},
    {"flatten", "flatten_contiguous_range", "X -> Out, @X?, +XShape"},
    {"flatten_grad", "reshape_grad", "X, Out@GRAD -> X@GRAD"},
    {"concat", "concat", "X*, #axis|AxisTensor -> Out"},
    {"concat_grad", "concat_grad", "X*, Out@GRAD, #axis|AxisTensor -> X@GRAD*"},
    {"split", "split", "X, #sections, #axis|AxisTensor -> Out*"},
    {"split_with_num", "split", "X, #axis|AxisTensor -> Out*"},
    {"stack", "stack", "X* -> Y"},
    {"stack_grad", "stack_grad", "X*, Y@GRAD -> X@GRAD*"},
    {"slice", "slice",
     "Input, #starts|StartsTensor|StartsTensorList, #ends|EndsTensor|EndsTensorList -> Out"},
    {"slice_grad", "slice_grad",
     "Input, Out@GRAD, #starts|StartsTensor|StartsTensorList, #ends|EndsTensor|EndsTensorList -> "
     "Input@GRAD"},
    {"gather", "gather", "X, Index, #axis|Axis -> Out"},
    {"gather_grad", "gather_grad", "X, Index, Out@GRAD, #axis|Axis -> X@GRAD"},
    {"gather_nd", "gather_nd", "X, Index -> Out"},
    {"gather_nd_grad", "gather_nd_grad", "X, Index, Out@GRAD -> X@GRAD"},
    {"expand", "expand_v2", "X, #shape|Shape|expand_shapes_tensor -> Out"},
    {"expand_grad", "expand_v2_grad", "X, Out@GRAD, #shape|Shape -> X@GRAD"},
    {"tile", "tile", "X, #repeat_times|RepeatTimes|repeat_times_tensor -> Out"},
    {"tile_grad", "tile_grad",
     "X, Out@GRAD, #repeat_times|RepeatTimes|repeat_times_tensor -> X@GRAD"},
    {"one_hot", "one_hot_v2", "X, #depth|depth_tensor -> Out"},
    {"shape", "shape", "Input -> Out"},
    {"expand_as", "expand_as_v2", "X, Y? -> Out"},
    {"expand_as_grad", "expand_as_v2_grad", "X, Out@GRAD -> X@GRAD"},
    {"flip", "flip", "X -> Out"},
    {"roll", "roll", "X, #shifts|ShiftsTensor -> Out"},
    {"roll_grad", "roll_grad", "X, Out@GRAD, #shifts|ShiftsTensor -> X@GRAD"},
    {"index_select", "index_select", "X, Index -> Out", "axis>dim"},
    {"index_select_grad", "index_select_grad", "X, Index, Out@GRAD -> X@GRAD", "axis>dim"},
    {"index_sample", "index_sample", "X, Index -> Out"},
    {"index_sample_grad", "index_sample_grad", "X, Index, Out@GRAD -> X@GRAD"},
    {"masked_select", "masked_select", "X, Mask -> Y"},
    {"masked_select_grad", "masked_select_grad", "X, Mask, Y@GRAD -> X@GRAD"},
    {"meshgrid", "meshgrid", "X* -> Out*"},
    {"meshgrid_grad", "meshgrid_grad", "X*, outputs@GRAD* -> X@GRAD*"},
    {"multiplex", "multiplex", "X*, Ids -> Out"},
    {"multiplex_grad", "multiplex_grad", "X*, Ids, Out@GRAD -> X@GRAD*"},
    {"pad3d", "pad3d", "X, #paddings|Paddings -> Out", "pad_value>value"},
    {"pad3d_grad", "pad3d_grad", "X, Out@GRAD, #paddings|Paddings -> X@GRAD", "pad_value>value"},
    {"pixel_shuffle", "pixel_shuffle", "X -> Out"},
    {"pixel_shuffle_grad", "pixel_shuffle_grad", "Out@GRAD -> X@GRAD"},
    {"pixel_unshuffle", "pixel_unshuffle", "X -> Out"},
    {"pixel_unshuffle_grad", "pixel_unshuffle_grad", "Out@GRAD -> X@GRAD"},
    {"channel_shuffle", "channel_shuffle", "X -> Out"},
    {"channel_shuffle_grad", "channel_shuffle_grad", "Out@GRAD -> X@GRAD"},
    {"repeat_interleave", "repeat_interleave", "X -> Out", "axis>dim, repeats>Repeats"},
    {"repeat_interleave_grad", "repeat_interleave_grad", "X, Out@GRAD -> X@GRAD",
     "axis>dim, repeats>Repeats"},
    {"scatter", "scatter", "X, Ids, Updates -> Out"},
    {"scatter_grad", "scatter_grad", "Ids, Updates, Out@GRAD -> X@GRAD, Updates@GRAD"},
    {"scatter_nd_add_grad", "scatter_nd_add_grad",
     "Index, Updates, Out@GRAD -> X@GRAD, Updates@GRAD"},
    {"put_along_axis", "put_along_axis", "Input, Index, Value -> Result",
     "axis>Axis, include_self>Include_self, reduce>Reduce"},
    {"put_along_axis_grad", "put_along_axis_grad",
     "Input, Index, Value, Result, Result@GRAD -> Input@GRAD, Value@GRAD",
     "axis>Axis, include_self>Include_self, reduce>Reduce"},
    {"take_along_axis", "take_along_axis", "Input, Index -> Result", "axis>Axis"},
    {"take_along_axis_grad", "take_along_axis_grad", "Input, Index, Result@GRAD -> Input@GRAD",
     "axis>Axis"},
    {"strided_slice", "strided_slice",
     "Input, #starts|StartsTensor|StartsTensorList, #ends|EndsTensor|EndsTensorList, "
     "#strides|StridesTensor -> Out"},
    {"strided_slice_grad", "strided_slice_grad",
     "Input, Out@GRAD, #starts|StartsTensor|StartsTensorList, #ends|EndsTensor|EndsTensorList, "
     "#strides|StridesTensor -> Input@GRAD"},
    {"unbind", "unbind", "X -> Out*"},
    {"unstack", "unstack", "X -> Y*"},
    {"unstack_grad", "unstack_grad", "Y@GRAD* -> X@GRAD"},
    {"unfold", "unfold", "X -> Y"},
    {"unfold_grad", "unfold_grad", "X, Y@GRAD -> X@GRAD"},
    {"fold", "fold", "X -> Y"},
    {"fold_grad", "fold_grad", "X, Y@GRAD -> X@GRAD"},
    {"shard_index", "shard_index", "X -> Out"},
    {"sequence_mask", "sequence_mask", "X, #maxlen -> Y"},
    {"temporal_shift", "temporal_shift", "X -> Out"},
    {"temporal_shift_grad", "temporal_shift_grad", "Out@GRAD -> X@GRAD"},
    {"diag", "diag_v2", "X -> Out"},
    {"diag_embed", "diag_embed", "Input -> Out"},
    {"scatter_nd_add", "scatter_nd_add", "X, Index, Updates -> Out"},
};

}  // namespace

llvm::ArrayRef<PirRow> shapeRows() { return kRows; }

}  // namespace dtranspile::pir
