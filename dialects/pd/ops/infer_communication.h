// Inference of collectives that change extents. Those that do not are inferSame<"X", "Out"> in
// their rows.
#pragma once

#include "dialects/pd/ops/infer_common.h"

namespace dtranspile::pd {

llvm::LogicalResult inferGather0(InferContext& c);  // c_allgather: nranks times the rows
llvm::LogicalResult inferScatter0(
    InferContext& c);  // c_reducescatter, c_scatter: one of nranks equal parts of the rows
llvm::LogicalResult inferConcatLast(InferContext& c);  // c_concat: nranks times the columns
llvm::LogicalResult inferSplitLast(
    InferContext& c);  // c_split: one of nranks equal parts of the columns

}  // namespace dtranspile::pd
