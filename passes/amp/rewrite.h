// Casts in the forward and the backward part of a program. First part of the pass amp; scaling.cc
// is the second.
#pragma once

#include <string>
#include <vector>

#include "passes/amp/classify.h"
#include "passes/amp/values.h"

namespace dtranspile::passes {

struct RewriteOptions {
  mlir::Type half;     // float16 or bfloat16
  bool scaled = true;  // gradients carry a factor: what the backward part does to them is linear
};

// Reports and fails where the backward part has what is not known to be right in two precisions.
mlir::LogicalResult rewriteInto(pd::ProgramOp main, const Classified& classified,
                                const RewriteOptions& options, pd::Declarations& declarations);

}  // namespace dtranspile::passes
