// Inference of resized images and grids. Rows: interpolation.cc.
#pragma once

#include "dialects/pd/ops/infer_common.h"

namespace dtranspile::pd {

llvm::LogicalResult inferResize(InferContext& c);
llvm::LogicalResult inferGridSample(InferContext& c);
llvm::LogicalResult inferAffineGrid(InferContext& c);

}  // namespace dtranspile::pd
