// Kernels of the family `shape`, named in shape_calls.cc; slots and attributes in the order of
// runtime/kernels/signatures/shape.calls.
#pragma once

#include "runtime/kernels/args/shape.h"
#include "runtime/kernels/cpu/axis_map.h"

namespace dtranspile::kernels {

// join.cc
int32_t Concat(OpCall& call);
int32_t ConcatGrad(OpCall& call);
int32_t Split(OpCall& call);
int32_t Stack(OpCall& call);
int32_t Unstack(OpCall& call);

// partial.cc
int32_t Partial(OpCall& call);
int32_t PartialGrad(OpCall& call);

// parts.cc
int32_t CutParts(OpCall& call);
int32_t JoinParts(OpCall& call);

// repeat.cc
bool TileMap(OpCall& call, const DtBuffer& x, AxisMap& map);
bool ExpandMap(OpCall& call, const DtBuffer& x, AxisMap& map);
int32_t ExpandAsGrad(OpCall& call);
bool ExpandAsMap(OpCall& call, const DtBuffer& x, AxisMap& map);
bool TileAsMap(OpCall& call, const DtBuffer& x, AxisMap& map);
bool RepeatMap(OpCall& call, const DtBuffer& x, AxisMap& map);
int32_t Meshgrid(OpCall& call);
int32_t MeshgridGrad(OpCall& call);
int32_t BroadcastTensors(OpCall& call);
int32_t BroadcastTensorsGrad(OpCall& call);

// pad.cc
bool PadMap(OpCall& call, const DtBuffer& x, AxisMap& map);
bool UnpadMap(OpCall& call, const DtBuffer& gradient, AxisMap& map);
bool Pad2dMap(OpCall& call, const DtBuffer& x, AxisMap& map);
bool Pad3dMap(OpCall& call, const DtBuffer& x, AxisMap& map);
bool CropMap(OpCall& call, const DtBuffer& x, AxisMap& map);
bool CropTensorMap(OpCall& call, const DtBuffer& x, AxisMap& map);
int32_t PadConstantLike(OpCall& call);
int32_t PadConstantLikeGrad(OpCall& call);

// turn.cc
bool FlipMap(OpCall& call, const DtBuffer& x, AxisMap& map);
bool RollMap(OpCall& call, const DtBuffer& x, AxisMap& map);

// shuffle.cc
int32_t PixelShuffle(OpCall& call);
int32_t PixelUnshuffle(OpCall& call);
int32_t SpaceToDepth(OpCall& call);
int32_t SpaceToDepthGrad(OpCall& call);
int32_t ShuffleChannel(OpCall& call);
int32_t ShuffleChannelBack(OpCall& call);
int32_t TemporalShift(OpCall& call);

// window.cc
int32_t Unfold(OpCall& call);
int32_t UnfoldGrad(OpCall& call);
int32_t Fold(OpCall& call);
int32_t FoldGrad(OpCall& call);
int32_t Im2Sequence(OpCall& call);
int32_t Im2SequenceGrad(OpCall& call);

// frames.cc
bool FrameMap(OpCall& call, const DtBuffer& x, AxisMap& map);
int32_t OverlapAdd(OpCall& call);
int32_t OverlapAddGrad(OpCall& call);

// reshape.cc
int32_t Reshape(OpCall& call);
int32_t Squeeze(OpCall& call);
int32_t Unsqueeze(OpCall& call);
int32_t Flatten(OpCall& call);
int32_t FlattenRange(OpCall& call);
int32_t ReshapeBack(OpCall& call);

// extents.cc
int32_t ShapeOf(OpCall& call);
int32_t SizeOfTensor(OpCall& call);
int32_t Assign(OpCall& call);

}  // namespace dtranspile::kernels
