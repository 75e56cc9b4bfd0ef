// Calls of plans that look things up by index (abi.h, library calls). Called by name through table.h. `Ids` and `Label` are int64 or
// int32 of any shape.
//
// dt_check_range         args Ids                ints lower, upper, has_ignore, ignore      strings NAME
//     Fails unless every element is in [lower, upper) or equals `ignore` (when has_ignore is 1); the message names NAME,
//     the first offending element and the bounds. Kernels index with ids unchecked: the plan calls this before them.
// dt_lookup_table        args W, Ids, Out        ints padding_idx, drop W [V, D], Out [.., D]: rows of W; rows of zeros where the
//     id is padding_idx (-1: none). Any element type. Fails on an id outside [0, V). drop 1: the last extent of Ids
//     is 1 and D takes its place.
// dt_lookup_table_grad   args Ids, dOut, dW      ints padding_idx       dW = Σ rows of dOut by id, in the order of Ids; other
//     rows, and that of padding_idx, are zero. float32, float64. Fails on an id outside [0, V).
// dt_top_k               args X, Values, Indices ints largest, k        X [.., C], Values and Indices (int64) [.., k]: the k
//     largest (or smallest) of every row, sorted; equal values by rising index; NaN counts as the largest.
// dt_accuracy            args Out, Indices, Label, Accuracy, Correct, Total
//     Indices [N, k], Label [N] or [N, 1]; Correct (int32): rows with the label among their indices, Total (int32) = N, Accuracy
//     (float32 or float64) = Correct / Total. Out (the values of top_k) is not read.
#pragma once

#include "runtime/exec/abi.h"

extern "C" int32_t dt_check_range(DtContext* context, const DtCall* call);
extern "C" int32_t dt_lookup_table(DtContext* context, const DtCall* call);
extern "C" int32_t dt_lookup_table_grad(DtContext* context, const DtCall* call);
extern "C" int32_t dt_top_k(DtContext* context, const DtCall* call);
extern "C" int32_t dt_accuracy(DtContext* context, const DtCall* call);
