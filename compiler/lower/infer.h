// Concrete types of the results of framework ops, from those of their arguments. A row of the op table may bring its own inference;
// this is what holds for the others, by type of op and by naming conventions of the framework (a gradient has the shape of
// what it is the gradient of, ParamOut that of Param).
#pragma once

#include "dialects/pd/infer.h"

namespace dtranspile::lower {

// Sets every output of the op. Fails with a message when a dim stays unknown or arguments do not fit.
llvm::LogicalResult inferOp(pd::InferContext& context);

// numpy's broadcasting with the framework's `axis`; nothing if the shapes do not fit.
std::optional<llvm::SmallVector<int64_t, 4>> broadcastDims(llvm::ArrayRef<int64_t> x, llvm::ArrayRef<int64_t> y, int64_t axis);

// `dim`, `reduce_all` of reduce_*: true for dims that are reduced.
std::vector<bool> reducedDims(const pd::OpView& op, int64_t rank);

// Paddings (top, bottom, left, right) of a convolution or pooling, from paddings, padding_algorithm, strides, dilations.
llvm::SmallVector<int64_t, 4> spatialPaddings(const pd::OpView& op, llvm::ArrayRef<int64_t> extents, llvm::ArrayRef<int64_t> kernel,
                                              llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> dilations);

}  // namespace dtranspile::lower
