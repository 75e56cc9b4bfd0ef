// Inference of detection ops whose results programs declare with other types or extents than they
// have. Rows: detection.cc.
#pragma once

#include "dialects/pd/ops/infer_common.h"

namespace dtranspile::pd {

llvm::LogicalResult inferRoiPool(InferContext& c);  // roi_pool, roi_align, prroi_pool
llvm::LogicalResult inferPsroiPool(InferContext& c);
llvm::LogicalResult inferDeformablePsroi(InferContext& c);
llvm::LogicalResult inferYoloLoss(InferContext& c);
llvm::LogicalResult inferGenerateProposals(InferContext& c);
llvm::LogicalResult inferDetections(
    InferContext& c);  // multiclass_nms, locality_aware_nms, retinanet_detection_output, matrix_nms
llvm::LogicalResult inferNms(InferContext& c);

}  // namespace dtranspile::pd
