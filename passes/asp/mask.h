// The mask of a weight by ops of the framework: two of every four elements are 1.
#pragma once

#include <string>

#include "dialects/pd/declarations.h"

namespace dtranspile::passes {

// The dim along which groups of four lie: that which a product contracts.
int64_t groupedDim(mlir::RankedTensorType weight);

// A value like `weight`, called `name`, at the builder's insertion point. Names of what is between
// begin with `name`.
mlir::Value maskOf(mlir::OpBuilder& builder, mlir::Value weight, const std::string& name,
                   pd::Declarations& declarations);

}  // namespace dtranspile::passes
