// Calls of plans that look at ids and labels, int64 or int32 of any shape.
#pragma once

#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

// dt_check_range: fails unless every id is in [lower, upper) or equals `ignore`, where that is
// given; the message names `name`, the first offending element and the bounds. Kernels index with
// ids unchecked: the plan calls this before them.
int32_t CheckRange(OpCall& call);

// dt_accuracy: Indices [N, k], Label [N] or [N, 1]; Correct: rows with the label among their
// indices, Total = N, Accuracy = Correct / Total. Out (the values of top_k) is not read.
int32_t Accuracy(OpCall& call);

}  // namespace dtranspile::kernels
