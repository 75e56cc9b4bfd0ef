// Inference and constraints of element-wise operators, logical ones, and other maps of values to
// values.
#pragma once

#include <optional>

#include "dialects/pd/ops/infer_common.h"

namespace dtranspile::pd {

// Broadcast of x and y in the framework's way (elementwise_op_function.h): with axis -1 both are
// aligned at the right; otherwise the lower rank's extents, without trailing ones, stand at axis,
// axis + 1 … of the other. Nothing when extents or axis do not fit.
std::optional<Dims> broadcastDims(DimsRef x, DimsRef y, int64_t axis);

llvm::LogicalResult inferElementwise(InferContext& c);             // X, Y -> Out of X's dtype
llvm::LogicalResult inferQuotientSecondGradient(InferContext& c);  // elementwise_div_grad_grad
llvm::LogicalResult inferProductSecondGradient(InferContext& c);   // elementwise_mul_grad_grad
llvm::LogicalResult inferSumThirdGradient(InferContext& c);        // elementwise_add_triple_grad
llvm::LogicalResult inferProductThirdGradient(InferContext& c);    // elementwise_mul_triple_grad
llvm::LogicalResult inferFusedActivation(InferContext& c);
// Integers and booleans.
bool isWhole(DType type);

// As X1, of integers float64.
llvm::LogicalResult inferAtan2(InferContext& c);
llvm::LogicalResult inferCompare(InferContext& c);     // X, Y -> Out bool
llvm::LogicalResult inferLogicalNot(InferContext& c);  // X -> Out bool
llvm::LogicalResult inferWholeTest(InferContext& c);   // X -> Out bool, one element
llvm::LogicalResult inferSum(InferContext& c);         // dense, SelectedRows, arrays
llvm::LogicalResult inferCast(InferContext& c);
llvm::LogicalResult inferWhere(InferContext& c);
llvm::LogicalResult inferWhereIndex(InferContext& c);

extern const Constraint kBroadcastConstraints[2];  // C1 axis, C2 extents
extern const Constraint kSumConstraints[1];        // C1 equal extents

}  // namespace dtranspile::pd
