// Inference and constraints of products of matrices.
#pragma once

#include "dialects/pd/ops/infer_common.h"

namespace dtranspile::pd {

// Result of a product of batches of matrices; 1-D operands are a row (left) and a column (right).
// Nothing when extents do not fit.
struct MatmulShape {
  DimsRef x, y;
  bool transposeX = false, transposeY = false;
  bool emptyIsOne = true;  // a product of two vectors is [1], not []
};
std::optional<Dims> matmulDims(MatmulShape shape);

llvm::LogicalResult inferMul(InferContext& c);
llvm::LogicalResult inferMatmul(InferContext& c);
llvm::LogicalResult inferMatmulV2(InferContext& c);
llvm::LogicalResult inferMatmulThirdGradient(InferContext& c);
llvm::LogicalResult inferBmm(InferContext& c);
llvm::LogicalResult inferMv(InferContext& c);
llvm::LogicalResult inferDot(InferContext& c);
llvm::LogicalResult inferAddmm(InferContext& c);
llvm::LogicalResult inferOneElement(InferContext& c);  // X -> Out, a scalar of X's dtype
llvm::LogicalResult inferNorm(InferContext& c);        // norm
llvm::LogicalResult inferBilinearProduct(InferContext& c);
llvm::LogicalResult inferBilinearProductGrad(InferContext& c);
llvm::LogicalResult inferKron(InferContext& c);
llvm::LogicalResult inferDeterminant(InferContext& c);  // determinant, slogdeterminant
llvm::LogicalResult inferEigh(InferContext& c);         // a number and a column per row
llvm::LogicalResult inferSvd(InferContext& c);
llvm::LogicalResult inferQr(InferContext& c);
llvm::LogicalResult inferMulSecondGrad(InferContext& c);
llvm::LogicalResult inferStft(InferContext& c);
llvm::LogicalResult inferLu(InferContext& c);
llvm::LogicalResult inferLuUnpack(InferContext& c);
llvm::LogicalResult inferMatrixRank(InferContext& c);
llvm::LogicalResult inferCholeskySolve(InferContext& c);
llvm::LogicalResult inferMultiDot(InferContext& c);
llvm::LogicalResult inferTrace(InferContext& c);
llvm::LogicalResult inferDiagonal(InferContext& c);
llvm::LogicalResult inferDist(InferContext& c);  // a scalar
llvm::LogicalResult inferRowDistance(
    InferContext& c);  // squared_l2_distance, cos_sim: one number per row
llvm::LogicalResult inferFsp(InferContext& c);
llvm::LogicalResult inferEinsum(InferContext& c);
llvm::LogicalResult inferFft(InferContext& c);
llvm::LogicalResult inferEinsumGrad(
    InferContext& c);  // gradients take after InnerCache, which holds the operands

extern const Constraint kMulConstraints[2];       // C1 column counts, C2 inner extents
extern const Constraint kMatmulConstraints[1];    // C1 inner extents and batches
extern const Constraint kMatmulV2Constraints[1];  // C1 inner extents and batches

}  // namespace dtranspile::pd
