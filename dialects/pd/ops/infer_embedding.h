// Inference of features and samples of classes. Rows: embedding.cc (tables themselves:
// infer_loss.h).
#pragma once

#include "dialects/pd/ops/infer_common.h"

namespace dtranspile::pd {

llvm::LogicalResult inferCvm(InferContext& c);
llvm::LogicalResult inferFilterByInstag(InferContext& c);  // the number of rows depends on the tags
llvm::LogicalResult inferHash(InferContext& c);
llvm::LogicalResult inferSampleLogits(InferContext& c);
llvm::LogicalResult inferSampleLogitsGrad(InferContext& c);  // takes after LogitsDim

}  // namespace dtranspile::pd
