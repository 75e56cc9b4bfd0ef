// Inference and constraints of reductions and orderings.
#pragma once

#include "dialects/pd/ops/infer_common.h"

namespace dtranspile::pd {

llvm::LogicalResult inferReduce(InferContext& c);      // reduce_*: dim, keep_dim, reduce_all
llvm::LogicalResult inferReduceTest(InferContext& c);  // reduce_all, reduce_any: Out bool
llvm::LogicalResult inferMean(InferContext& c);        // mean: over everything
llvm::LogicalResult inferLogSumExp(InferContext& c);
llvm::LogicalResult inferPNorm(InferContext& c);
llvm::LogicalResult inferCumulative(InferContext& c);  // cumsum
llvm::LogicalResult inferArgExtreme(InferContext& c);  // arg_max, arg_min
llvm::LogicalResult inferCumulativeExtreme(InferContext& c);
llvm::LogicalResult inferArgsort(InferContext& c);
llvm::LogicalResult inferPicked(
    InferContext& c);  // kthvalue, mode: one element per line, and its place
llvm::LogicalResult inferNanMedian(InferContext& c);
llvm::LogicalResult inferHistogram(InferContext& c);
llvm::LogicalResult inferBinCount(InferContext& c);
llvm::LogicalResult inferSearchSorted(InferContext& c);
llvm::LogicalResult inferUnique(InferContext& c);  // unique, unique_with_counts, unique_consecutive
llvm::LogicalResult inferTopK(InferContext& c);    // top_k, top_k_v2

extern const Constraint kReduceConstraints[1];  // C1 axes
extern const Constraint kTopKConstraints[1];    // C1 k fits

}  // namespace dtranspile::pd
