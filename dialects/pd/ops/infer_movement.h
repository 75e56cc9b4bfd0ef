// Inference of operators that pad, crop, rearrange or window images, and of those that pick along
// axes. Rows: shape.cc, indexing.cc.
#pragma once

#include "dialects/pd/ops/infer_common.h"

namespace dtranspile::pd {

llvm::LogicalResult inferUnstackGrad(InferContext& c);
llvm::LogicalResult inferRepeatInterleave(InferContext& c);
llvm::LogicalResult inferMeshgrid(InferContext& c);
llvm::LogicalResult inferPartial(InferContext& c);  // partial_concat, partial_sum
llvm::LogicalResult inferBroadcastTensors(InferContext& c);
llvm::LogicalResult inferFrame(InferContext& c);
llvm::LogicalResult inferOverlapAdd(InferContext& c);
llvm::LogicalResult inferPadGrad(InferContext& c);
llvm::LogicalResult inferPadImage(InferContext& c);  // pad2d, pad3d
llvm::LogicalResult inferCrop(InferContext& c);      // crop, crop_tensor
llvm::LogicalResult inferChannelsToSpace(
    InferContext& c);  // pixel_shuffle and the gradient of pixel_unshuffle
llvm::LogicalResult inferSpaceToChannels(
    InferContext& c);  // pixel_unshuffle, the gradient of pixel_shuffle, space_to_depth
llvm::LogicalResult inferUnfold(InferContext& c);
llvm::LogicalResult inferFold(InferContext& c);
llvm::LogicalResult inferIm2Sequence(InferContext& c);

llvm::LogicalResult inferScatterGrad(
    InferContext& c);  // scatter, scatter_nd_add: X@GRAD as Out@GRAD
llvm::LogicalResult inferSetValueGrad(InferContext& c);
llvm::LogicalResult inferTakeAlongAxis(InferContext& c);
llvm::LogicalResult inferDiag(InferContext& c);  // diag, diag_v2
llvm::LogicalResult inferDiagEmbed(InferContext& c);
llvm::LogicalResult inferIsClose(InferContext& c);

}  // namespace dtranspile::pd
