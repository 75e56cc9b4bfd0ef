// Library calls: family `shape`.
#include "runtime/kernels/cpu/dense_entry.h"
#include "runtime/kernels/cpu/ops/families.h"
#include "runtime/kernels/cpu/ops/shape/calls.h"
#include "runtime/kernels/cpu/shape.h"

namespace dtranspile::kernels {
namespace {

constexpr FunctionRow kRows[] = {
    {"dt_assign", Entry<Assign>, kAnyType},
    {"dt_cast", Entry<Cast>, kReals},
    {"dt_concat", DenseEntry<Concat>, kAnyType},
    {"dt_concat_grad", DenseEntry<ConcatGrad>, kAnyType},
    {"dt_crop", DenseEntry<Mapped<CropMap>>, kAnyType},
    {"dt_crop_grad", DenseEntry<MappedGrad<CropMap>>, kAnyType},
    {"dt_crop_tensor", DenseEntry<Mapped<CropTensorMap>>, kAnyType},
    {"dt_cut_parts", DenseEntry<CutParts>, kAnyType},
    {"dt_expand", DenseEntry<Mapped<ExpandMap>>, kAnyType},
    {"dt_expand_as", DenseEntry<Mapped<ExpandAsMap>>, kAnyType},
    {"dt_expand_as_grad", DenseEntry<ExpandAsGrad>, kNumbers},
    {"dt_expand_grad", DenseEntry<MappedGrad<ExpandMap>>, kNumbers},
    {"dt_flatten", DenseEntry<Flatten>, kAnyType},
    {"dt_flatten_range", DenseEntry<FlattenRange>, kAnyType},
    {"dt_flip", DenseEntry<Mapped<FlipMap>>, kAnyType},
    {"dt_fold", DenseEntry<Fold>, kNumbers},
    {"dt_fold_grad", DenseEntry<FoldGrad>, kNumbers},
    {"dt_im2sequence", DenseEntry<Im2Sequence>, kNumbers},
    {"dt_im2sequence_grad", DenseEntry<Im2SequenceGrad>, kNumbers},
    {"dt_join_parts", DenseEntry<JoinParts>, kAnyType},
    {"dt_meshgrid", DenseEntry<Meshgrid>, kAnyType},
    {"dt_meshgrid_grad", DenseEntry<MeshgridGrad>, kNumbers},
    {"dt_broadcast_tensors", DenseEntry<BroadcastTensors>, kAnyType},
    {"dt_broadcast_tensors_grad", DenseEntry<BroadcastTensorsGrad>, kNumbers},
    {"dt_frame", DenseEntry<Mapped<FrameMap>>, kAnyType},
    {"dt_frame_grad", DenseEntry<MappedGrad<FrameMap>>, kNumbers},
    {"dt_overlap_add", DenseEntry<OverlapAdd>, kNumbers},
    {"dt_overlap_add_grad", DenseEntry<OverlapAddGrad>, kAnyType},
    {"dt_pad", DenseEntry<Mapped<PadMap>>, kAnyType},
    {"dt_pad2d", DenseEntry<Mapped<Pad2dMap>>, kAnyType},
    {"dt_pad2d_grad", DenseEntry<MappedGrad<Pad2dMap>>, kNumbers},
    {"dt_pad3d", DenseEntry<Mapped<Pad3dMap>>, kAnyType},
    {"dt_pad3d_grad", DenseEntry<MappedGrad<Pad3dMap>>, kNumbers},
    {"dt_pad_constant_like", DenseEntry<PadConstantLike>, kAnyType},
    {"dt_pad_constant_like_grad", DenseEntry<PadConstantLikeGrad>, kAnyType},
    {"dt_partial", DenseEntry<Partial>, kNumbers},
    {"dt_partial_grad", DenseEntry<PartialGrad>, kNumbers},
    {"dt_pixel_shuffle", DenseEntry<PixelShuffle>, kAnyType},
    {"dt_pixel_unshuffle", DenseEntry<PixelUnshuffle>, kAnyType},
    {"dt_repeat_interleave", DenseEntry<Mapped<RepeatMap>>, kAnyType},
    {"dt_repeat_interleave_grad", DenseEntry<MappedGrad<RepeatMap>>, kNumbers},
    {"dt_reshape2", DenseEntry<Reshape>, kAnyType},
    {"dt_reshape_back", DenseEntry<ReshapeBack>, kAnyType},
    {"dt_roll", DenseEntry<Mapped<RollMap>>, kAnyType},
    {"dt_roll_grad", DenseEntry<MappedGrad<RollMap>>, kAnyType},
    {"dt_shape", Entry<ShapeOf>, kAnyType},
    {"dt_shuffle_channel", DenseEntry<ShuffleChannel>, kAnyType},
    {"dt_shuffle_channel_back", DenseEntry<ShuffleChannelBack>, kAnyType},
    {"dt_size", DenseEntry<SizeOfTensor>, kAnyType},
    {"dt_space_to_depth", DenseEntry<SpaceToDepth>, kAnyType},
    {"dt_space_to_depth_grad", DenseEntry<SpaceToDepthGrad>, kAnyType},
    {"dt_split", DenseEntry<Split>, kAnyType},
    {"dt_squeeze", DenseEntry<Squeeze>, kAnyType},
    {"dt_stack", DenseEntry<Stack>, kAnyType},
    {"dt_temporal_shift", DenseEntry<TemporalShift>, kAnyType},
    {"dt_tile", DenseEntry<Mapped<TileMap>>, kAnyType},
    {"dt_tile_as", DenseEntry<Mapped<TileAsMap>>, kAnyType},
    {"dt_tile_as_grad", DenseEntry<MappedGrad<TileAsMap>>, kNumbers},
    {"dt_tile_grad", DenseEntry<MappedGrad<TileMap>>, kNumbers},
    {"dt_transpose", Entry<Transpose>, kAnyType},
    {"dt_transpose_back", Entry<TransposeBack>, kAnyType},
    {"dt_unfold", DenseEntry<Unfold>, kNumbers},
    {"dt_unfold_grad", DenseEntry<UnfoldGrad>, kNumbers},
    {"dt_unpad", DenseEntry<Mapped<UnpadMap>>, kAnyType},
    {"dt_unsqueeze", DenseEntry<Unsqueeze>, kAnyType},
    {"dt_unstack", DenseEntry<Unstack>, kAnyType},
};

}  // namespace

FunctionTable ShapeFunctions() { return kRows; }

}  // namespace dtranspile::kernels
