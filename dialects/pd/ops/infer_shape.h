// Inference and constraints of operators that move elements about: reshape, transpose, concat,
// split …
#pragma once

#include "dialects/pd/ops/infer_common.h"

namespace dtranspile::pd {

// Extents of a reshape: 0 copies, one -1 takes what is left; nothing when the elements do not fit.
std::optional<Dims> reshapeDims(DimsRef from, DimsRef to);

llvm::LogicalResult inferReshape(InferContext& c);  // reshape, reshape2
llvm::LogicalResult inferFromXShape(
    InferContext& c);  // gradients that take the shape from XShape [0, dims…]
llvm::LogicalResult inferSqueeze(InferContext& c);
llvm::LogicalResult inferUnsqueeze(InferContext& c);
llvm::LogicalResult inferFlatten(InferContext& c);  // flatten, flatten2
llvm::LogicalResult inferFlattenRange(InferContext& c);
llvm::LogicalResult inferTranspose(InferContext& c);
llvm::LogicalResult inferTransposeGrad(InferContext& c);  // without X from the gradient
llvm::LogicalResult inferConcat(InferContext& c);
llvm::LogicalResult inferSplit(InferContext& c);
llvm::LogicalResult inferStack(InferContext& c);
llvm::LogicalResult inferStackGrad(InferContext& c);
llvm::LogicalResult inferUnstack(InferContext& c);  // unstack, unbind
llvm::LogicalResult inferExpand(InferContext& c);   // expand (times), tile
llvm::LogicalResult inferExpandV2(InferContext& c);
llvm::LogicalResult inferExpandAs(InferContext& c);
llvm::LogicalResult inferPad(InferContext& c);      // pad
llvm::LogicalResult inferShapeOp(InferContext& c);  // shape
llvm::LogicalResult inferSizeOp(InferContext& c);   // size
llvm::LogicalResult inferOneHot(InferContext& c);   // one_hot, one_hot_v2
llvm::LogicalResult inferCoalesce(InferContext& c);

extern const Constraint kTransposeConstraints[1];      // C1 axis is a permutation
extern const Constraint kTransposeGradConstraints[1];  // C1 axis is a permutation
extern const Constraint kConcatConstraints[2];         // C1 axis, C2 other extents
extern const Constraint kSplitConstraints[1];          // C1 axis

}  // namespace dtranspile::pd
