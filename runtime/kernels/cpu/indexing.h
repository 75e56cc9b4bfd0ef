// Calls of plans that look things up by index (abi.h, library calls). Called by name through
// call_table.h. `Ids` and `Label` are int64 or int32 of any shape.
//
// dt_check_range         args Ids                ints lower, upper, has_ignore, ignore      strings
// NAME
//     Fails unless every element is in [lower, upper) or equals `ignore` (when has_ignore is 1);
//     the message names NAME, the first offending element and the bounds. Kernels index with ids
//     unchecked: the plan calls this before them.
// dt_accuracy            args Out, Indices, Label, Accuracy, Correct, Total
//     Indices [N, k], Label [N] or [N, 1]; Correct (int32): rows with the label among their
//     indices, Total (int32) = N, Accuracy (float32 or float64) = Correct / Total. Out (the values
//     of top_k) is not read.
#pragma once

#include "runtime/exec/abi.h"

extern "C" int32_t dt_check_range(DtContext* context, const DtCall* call);
extern "C" int32_t dt_accuracy(DtContext* context, const DtCall* call);
