// Inference and constraints of normalisation and dropout.
#pragma once

#include "dialects/pd/ops/infer_common.h"

namespace dtranspile::pd {

llvm::LogicalResult inferBatchNorm(InferContext& c);  // batch_norm, sync_batch_norm, inplace_abn
llvm::LogicalResult inferLayerNorm(InferContext& c);
llvm::LogicalResult inferGroupNorm(InferContext& c);
llvm::LogicalResult inferInstanceNorm(InferContext& c);
llvm::LogicalResult inferBatchNormSecondGrad(InferContext& c);
llvm::LogicalResult inferNormGrad(
    InferContext& c);  // Bias@GRAD takes after Scale where Bias is absent
llvm::LogicalResult inferDataNorm(InferContext& c);
llvm::LogicalResult inferDataNormGrad(InferContext& c);
llvm::LogicalResult inferAffineChannelGrad(InferContext& c);
llvm::LogicalResult inferDropout(InferContext& c);

extern const Constraint kBatchNormConstraints[2];  // C1 channels, C2 epsilon
extern const Constraint
    kLayerNormConstraints[2];                    // C1 begin_norm_axis, C2 extents of Scale and Bias
extern const Constraint kDropoutConstraints[2];  // C1 probability, C2 implementation

}  // namespace dtranspile::pd
