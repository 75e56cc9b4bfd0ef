// Inference of activations whose results differ from X in extents or type. Rows: activation.cc.
#pragma once

#include "dialects/pd/ops/infer_common.h"

namespace dtranspile::pd {

llvm::LogicalResult inferMaxout(InferContext& c);
llvm::LogicalResult inferComplex(InferContext& c);    // complex: of X and Y, broadcast
llvm::LogicalResult inferAsComplex(InferContext& c);  // [..., 2] as one number
llvm::LogicalResult inferAsReal(InferContext& c);
// As X, of integers float32.
llvm::LogicalResult inferFloat(InferContext& c);
llvm::LogicalResult inferRealPart(InferContext& c);          // real, imag
llvm::LogicalResult inferRealPartGradient(InferContext& c);  // real_grad, imag_grad

}  // namespace dtranspile::pd
