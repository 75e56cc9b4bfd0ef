// 2-D pooling for plans (abi.h, library calls), as the framework's pool2d. Called by name through table.h.
//
// Both take
//   ints     kernelH, kernelW, strideH, strideW, padTop, padLeft, exclusive, adaptive, layout
//            adaptive: kernel, stride and padding are not used; cell (p, q) covers rows [⌊p·H/P⌋, ⌈(p+1)·H/P⌉). Global pooling
//            is a kernel of H×W without padding. ceil_mode shows in the extents of Y only; windows are clipped to the input.
//            layout 0 is NCHW, 1 is NHWC.
//   strings  "max" or "avg"; "avg" divides by the clipped window if exclusive (or adaptive), else by kernelH·kernelW
//
// dt_pool2d       args X, Y           writes Y
// dt_pool2d_bwd   args X, Y, dY, dX   writes dX. "max": the first element in row order that equals Y takes the gradient; X and Y
//                                     are not read by "avg".
//
// float32 or float64; planes are shared out over the threads, so the bits do not depend on their number.
#pragma once

#include "runtime/exec/abi.h"

extern "C" int32_t dt_pool2d(DtContext* context, const DtCall* call);
extern "C" int32_t dt_pool2d_bwd(DtContext* context, const DtCall* call);
