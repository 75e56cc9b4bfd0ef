// Inference of operators that pick elements by position: slice, gather …
#pragma once

#include "dialects/pd/ops/infer_common.h"

namespace dtranspile::pd {

// One axis of a slice: begin and end clamped to [0, extent]; -1 when the extent or a bound is not
// known.
int64_t sliceExtent(int64_t extent, int64_t start, int64_t end);

llvm::LogicalResult inferSlice(InferContext& c);
llvm::LogicalResult inferStridedSlice(InferContext& c);
llvm::LogicalResult inferGather(InferContext& c);
llvm::LogicalResult inferGatherNd(InferContext& c);
llvm::LogicalResult inferIndexSelect(InferContext& c);
llvm::LogicalResult inferIndexAddGrad(InferContext& c);
llvm::LogicalResult inferSendEdges(InferContext& c);  // graph_send_ue_recv
llvm::LogicalResult inferSendBoth(InferContext& c);   // graph_send_uv
llvm::LogicalResult inferSendReceive(InferContext& c);
llvm::LogicalResult inferIndexSample(InferContext& c);
llvm::LogicalResult inferMultiplexGrad(InferContext& c);

}  // namespace dtranspile::pd
