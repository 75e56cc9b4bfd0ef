// Reductions for plans (abi.h, library calls). Called by name through call_table.h.
//
// dt_reduce   args X, Out      ints dims... (none: all)     strings "sum" "mean" "max" "min" "prod"
// "all" "any"
//     Out holds one element for every index of the kept dimensions, in their order (with or without
//     extents of 1). float32, float64, int32, int64; "all" and "any": bool. max and min propagate
//     NaN. Sums of float32 are formed in double.
//
// Every output element is computed by one thread in one order, and a reduction to few elements in
// parts whose number depends on the extents only: the same bits for any number of threads.
#pragma once

#include "runtime/exec/abi.h"

extern "C" int32_t dt_reduce(DtContext* context, const DtCall* call);
