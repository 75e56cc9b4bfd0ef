// Library calls: family `shape`.
#include "runtime/kernels/cpu/dense_entry.h"
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/ops/shape/calls.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_concat", DenseEntry<Concat>},
    {"dt_concat_grad", DenseEntry<ConcatGrad>},
    {"dt_split", DenseEntry<Split>},
    {"dt_stack", DenseEntry<Stack>},
    {"dt_unstack", DenseEntry<Unstack>},
    {"dt_tile", DenseEntry<Mapped<TileMap>>},
    {"dt_tile_grad", DenseEntry<MappedGrad<TileMap>>},
    {"dt_expand", DenseEntry<Mapped<ExpandMap>>},
    {"dt_expand_grad", DenseEntry<MappedGrad<ExpandMap>>},
    {"dt_expand_as", DenseEntry<Mapped<ExpandAsMap>>},
    {"dt_expand_as_grad", DenseEntry<MappedGrad<ExpandAsMap>>},
    {"dt_tile_as", DenseEntry<Mapped<TileAsMap>>},
    {"dt_tile_as_grad", DenseEntry<MappedGrad<TileAsMap>>},
    {"dt_repeat_interleave", DenseEntry<Mapped<RepeatMap>>},
    {"dt_repeat_interleave_grad", DenseEntry<MappedGrad<RepeatMap>>},
    {"dt_meshgrid", DenseEntry<Meshgrid>},
    {"dt_meshgrid_grad", DenseEntry<MeshgridGrad>},
    {"dt_pad", DenseEntry<Mapped<PadMap>>},
    {"dt_unpad", DenseEntry<Mapped<UnpadMap>>},
    {"dt_pad2d", DenseEntry<Mapped<Pad2dMap>>},
    {"dt_pad2d_grad", DenseEntry<MappedGrad<Pad2dMap>>},
    {"dt_pad3d", DenseEntry<Mapped<Pad3dMap>>},
    {"dt_pad3d_grad", DenseEntry<MappedGrad<Pad3dMap>>},
    {"dt_pad_constant_like", DenseEntry<PadConstantLike>},
    {"dt_pad_constant_like_grad", DenseEntry<PadConstantLikeGrad>},
    {"dt_crop", DenseEntry<Mapped<CropMap>>},
    {"dt_crop_grad", DenseEntry<MappedGrad<CropMap>>},
    {"dt_crop_tensor", DenseEntry<Mapped<CropTensorMap>>},
    {"dt_crop_tensor_grad", DenseEntry<MappedGrad<CropTensorMap>>},
    {"dt_flip", DenseEntry<Mapped<FlipMap>>},
    {"dt_roll", DenseEntry<Mapped<RollMap>>},
    {"dt_roll_grad", DenseEntry<MappedGrad<RollMap>>},
    {"dt_pixel_shuffle", DenseEntry<PixelShuffle>},
    {"dt_pixel_unshuffle", DenseEntry<PixelUnshuffle>},
    {"dt_space_to_depth", DenseEntry<SpaceToDepth>},
    {"dt_space_to_depth_grad", DenseEntry<SpaceToDepthGrad>},
    {"dt_shuffle_channel", DenseEntry<ShuffleChannel>},
    {"dt_shuffle_channel_back", DenseEntry<ShuffleChannelBack>},
    {"dt_temporal_shift", DenseEntry<TemporalShift>},
    {"dt_unfold", DenseEntry<Unfold>},
    {"dt_unfold_grad", DenseEntry<UnfoldGrad>},
    {"dt_fold", DenseEntry<Fold>},
    {"dt_fold_grad", DenseEntry<FoldGrad>},
    {"dt_im2sequence", DenseEntry<Im2Sequence>},
    {"dt_im2sequence_grad", DenseEntry<Im2SequenceGrad>},
    {"dt_reshape2", DenseEntry<Reshape>},
    {"dt_squeeze", DenseEntry<Squeeze>},
    {"dt_unsqueeze", DenseEntry<Unsqueeze>},
    {"dt_flatten", DenseEntry<Flatten>},
    {"dt_flatten_range", DenseEntry<FlattenRange>},
    {"dt_reshape_back", DenseEntry<ReshapeBack>},
    {"dt_shape", Entry<ShapeOf>},
    {"dt_size", DenseEntry<SizeOfTensor>},
    {"dt_assign", Entry<Assign>},
};

}  // namespace

FunctionTable ShapeFunctions() { return kRows; }

}  // namespace dtranspile::kernels
