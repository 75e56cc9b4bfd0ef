// The mask of a weight by ops of the framework: elements that are kept are 1, the others 0.
#pragma once

#include <string>

#include "dialects/pd/declarations.h"

namespace dtranspile::passes {

// What is kept of a matrix (docs/passes/asp.md): the two largest of every four elements of a row;
// or of every block of four by four at most two of each row and column: as they come by size, or
// those eight whose sum is largest.
enum class MaskAlgorithm { Fours, BlocksBySize, BlocksBySum };

// The dim along which groups of four lie: that which a product contracts.
int64_t groupedDim(mlir::RankedTensorType weight);

class MaskMaker {
 public:
  MaskMaker(MaskAlgorithm algorithm, pd::Declarations& declarations)
      : algorithm_(algorithm), declarations_(declarations) {}

  // A value like `weight`, called `name`, at the builder's insertion point, which moves on through
  // one block from call to call: constants are made once. Names of what is between begin with
  // `name`.
  mlir::Value of(mlir::OpBuilder& builder, mlir::Value weight, const std::string& name);

 private:
  MaskAlgorithm algorithm_;
  pd::Declarations& declarations_;
  mlir::Value patterns_, sizes_;
};

}  // namespace dtranspile::passes
