// The parameters that a program trains, wherever it does so: what servers of geo-SGD hold. (Servers
// that update ask for more: update_part.h.) Used by ps-place and ps-exchange.
#pragma once

#include <vector>

#include "passes/support/job.h"

namespace dtranspile::passes {

struct Trained {
  pd::VarOp var;
  bool byRows = false;  // a gradient of it is SelectedRows: a step changes few of its rows
};

// In the order of the updates. A parameter that cannot be cut into blocks is reported.
mlir::FailureOr<std::vector<Trained>> trainedParameters(const JobOnAxes& job);

}  // namespace dtranspile::passes
