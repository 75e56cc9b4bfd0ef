// Library calls: family `shape`.
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/ops/shape/calls.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_concat", Entry<Concat>},
    {"dt_concat_grad", Entry<ConcatGrad>},
    {"dt_split", Entry<Split>},
    {"dt_stack", Entry<Stack>},
    {"dt_unstack", Entry<Unstack>},
    {"dt_tile", Entry<Mapped<TileMap>>},
    {"dt_tile_grad", Entry<MappedGrad<TileMap>>},
    {"dt_expand", Entry<Mapped<ExpandMap>>},
    {"dt_expand_grad", Entry<MappedGrad<ExpandMap>>},
    {"dt_expand_as", Entry<Mapped<ExpandAsMap>>},
    {"dt_expand_as_grad", Entry<MappedGrad<ExpandAsMap>>},
    {"dt_tile_as", Entry<Mapped<TileAsMap>>},
    {"dt_tile_as_grad", Entry<MappedGrad<TileAsMap>>},
    {"dt_repeat_interleave", Entry<Mapped<RepeatMap>>},
    {"dt_repeat_interleave_grad", Entry<MappedGrad<RepeatMap>>},
    {"dt_meshgrid", Entry<Meshgrid>},
    {"dt_meshgrid_grad", Entry<MeshgridGrad>},
    {"dt_pad", Entry<Mapped<PadMap>>},
    {"dt_unpad", Entry<Mapped<UnpadMap>>},
    {"dt_pad2d", Entry<Mapped<Pad2dMap>>},
    {"dt_pad2d_grad", Entry<MappedGrad<Pad2dMap>>},
    {"dt_pad3d", Entry<Mapped<Pad3dMap>>},
    {"dt_pad3d_grad", Entry<MappedGrad<Pad3dMap>>},
    {"dt_pad_constant_like", Entry<PadConstantLike>},
    {"dt_pad_constant_like_grad", Entry<PadConstantLikeGrad>},
    {"dt_crop", Entry<Mapped<CropMap>>},
    {"dt_crop_grad", Entry<MappedGrad<CropMap>>},
    {"dt_crop_tensor", Entry<Mapped<CropTensorMap>>},
    {"dt_crop_tensor_grad", Entry<MappedGrad<CropTensorMap>>},
    {"dt_flip", Entry<Mapped<FlipMap>>},
    {"dt_roll", Entry<Mapped<RollMap>>},
    {"dt_roll_grad", Entry<MappedGrad<RollMap>>},
    {"dt_pixel_shuffle", Entry<PixelShuffle>},
    {"dt_pixel_unshuffle", Entry<PixelUnshuffle>},
    {"dt_space_to_depth", Entry<SpaceToDepth>},
    {"dt_space_to_depth_grad", Entry<SpaceToDepthGrad>},
    {"dt_shuffle_channel", Entry<ShuffleChannel>},
    {"dt_shuffle_channel_back", Entry<ShuffleChannelBack>},
    {"dt_temporal_shift", Entry<TemporalShift>},
    {"dt_unfold", Entry<Unfold>},
    {"dt_unfold_grad", Entry<UnfoldGrad>},
    {"dt_fold", Entry<Fold>},
    {"dt_fold_grad", Entry<FoldGrad>},
    {"dt_im2sequence", Entry<Im2Sequence>},
    {"dt_im2sequence_grad", Entry<Im2SequenceGrad>},
    {"dt_reshape2", Entry<Reshape>},
    {"dt_squeeze", Entry<Squeeze>},
    {"dt_unsqueeze", Entry<Unsqueeze>},
    {"dt_flatten", Entry<Flatten>},
    {"dt_flatten_range", Entry<FlattenRange>},
    {"dt_reshape_back", Entry<ReshapeBack>},
    {"dt_shape", Entry<ShapeOf>},
    {"dt_size", Entry<SizeOfTensor>},
    {"dt_assign", Entry<Assign>},
};

}  // namespace

FunctionTable ShapeFunctions() { return kRows; }

}  // namespace dtranspile::kernels
