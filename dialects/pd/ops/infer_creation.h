// Inference and constraints of operators that make tensors: constants, random numbers, ranges.
#pragma once

#include "dialects/pd/ops/infer_common.h"

namespace dtranspile::pd {

llvm::LogicalResult inferCreate(InferContext& c);      // shape and dtype from attributes or tensors
llvm::LogicalResult inferCreateLike(InferContext& c);  // *_batch_size_like: one extent from Input
llvm::LogicalResult inferFillLike(InferContext& c);    // fill_any_like, fill_zeros_like
llvm::LogicalResult inferRange(InferContext& c);
llvm::LogicalResult inferLinspace(InferContext& c);
llvm::LogicalResult inferEye(InferContext& c);
llvm::LogicalResult inferTriangle(InferContext& c);  // tril_indices, triu_indices
llvm::LogicalResult inferAttention(InferContext& c);
llvm::LogicalResult inferShuffleBatch(InferContext& c);
llvm::LogicalResult inferRandperm(InferContext& c);
llvm::LogicalResult inferMultinomial(InferContext& c);
llvm::LogicalResult inferSamplingId(InferContext& c);
llvm::LogicalResult inferRandomCrop(InferContext& c);
llvm::LogicalResult inferSeed(InferContext& c);

extern const Constraint kCreateConstraints[2];       // C1 dtype, C2 shape
extern const Constraint kAssignValueConstraints[3];  // C1 dtype, C2 shape, C3 number of values

}  // namespace dtranspile::pd
