// Inference and constraints of losses, embeddings and metrics.
#pragma once

#include "dialects/pd/ops/infer_common.h"

namespace dtranspile::pd {

llvm::LogicalResult inferCrossEntropy(InferContext& c);  // cross_entropy, cross_entropy2
llvm::LogicalResult inferCrossEntropy2Grad(InferContext& c);
llvm::LogicalResult inferSoftmaxCrossEntropy(InferContext& c);
llvm::LogicalResult inferHuber(InferContext& c);
llvm::LogicalResult inferSmoothL1(InferContext& c);
llvm::LogicalResult inferKlDivergence(InferContext& c);
llvm::LogicalResult inferNegativeLogLikelihood(InferContext& c);  // nll_loss
llvm::LogicalResult inferCenterLoss(InferContext& c);
llvm::LogicalResult inferEmbedding(InferContext& c);  // lookup_table, lookup_table_v2, c_embedding
llvm::LogicalResult inferEmbeddingGrad(InferContext& c);  // SelectedRows where is_sparse
llvm::LogicalResult inferNce(InferContext& c);
llvm::LogicalResult inferSparseWeightGrad(InferContext& c);  // nce_grad, hierarchical_sigmoid_grad
llvm::LogicalResult inferHierarchicalSigmoid(InferContext& c);
llvm::LogicalResult inferValuesOfRows(InferContext& c);  // get_tensor_from_selected_rows
llvm::LogicalResult inferAccuracy(InferContext& c);
llvm::LogicalResult inferAuc(InferContext& c);
llvm::LogicalResult inferPrecisionRecall(InferContext& c);
llvm::LogicalResult inferMeanIou(InferContext& c);
llvm::LogicalResult inferChunkEval(InferContext& c);
llvm::LogicalResult inferPairs(InferContext& c);  // positive_negative_pair

extern const Constraint kCrossEntropyConstraints[2];  // C1 ranks, C2 extents of Label
extern const Constraint
    kSoftmaxCrossEntropyConstraints[3];              // C1 axis, C2 ranks, C3 extents of Label
extern const Constraint kEmbeddingConstraints[1];    // C1 W is a matrix
extern const Constraint kLookupTableConstraints[2];  // C1 W is a matrix, C2 Ids end in 1
llvm::LogicalResult inferMarginCrossEntropy(InferContext& c);
llvm::LogicalResult inferIdentityLoss(InferContext& c);  // a sum, a mean, or X itself

}  // namespace dtranspile::pd
