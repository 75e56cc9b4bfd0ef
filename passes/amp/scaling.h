// Loss scaling: a factor on what the backward part begins with, taken back from the gradients; the
// factor follows from whether they are finite. Second part of the pass amp.
#pragma once

#include "dialects/pd/declarations.h"
#include "passes/amp/classify.h"

namespace dtranspile::passes {

struct ScalingOptions {
  double initial = 32768;
  bool dynamic = true;
  int64_t increaseEvery = 1000, decreaseEvery = 2;  // steps in a row
  double increase = 2, decrease = 0.8;
  bool apart = false;    // a check per gradient
  bool byBlock = false;  // of apart: updates divide by the factor themselves (servers)
};

// Returns whether a gradient holds what is not finite (a bool of one element). Fails with a message
// where a loss is no single number, or a gradient no dense tensor.
mlir::FailureOr<mlir::Value> scaleLoss(pd::ProgramOp main, pd::ProgramOp startup,
                                       const Classified& classified, const ScalingOptions& options,
                                       pd::Declarations& declarations);

}  // namespace dtranspile::passes
