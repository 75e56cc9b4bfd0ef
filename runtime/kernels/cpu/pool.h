// Pooling over two or three axes for plans (abi.h, library calls), as the framework's pool2d,
// pool3d and max_pool*_with_index. Called by name through call_table.h.
//
// All take
//   ints     a kernel extent per axis, a stride per axis, padding before each axis, divisor,
//   adaptive, layout
//            adaptive: kernel, stride and padding are not used; cell p of P covers [⌊p·H/P⌋,
//            ⌈(p+1)·H/P⌉) of an axis. Global pooling is a kernel of the input's extents without
//            padding. ceil_mode shows in the extents of Y only; windows are clipped to the input.
//            layout 0 is NCHW (NCDHW), 1 is NHWC (NDHWC). Extents of Y along the axes may follow,
//            for results whose batch only the run knows.
//   strings  "max" or "avg". "avg" divides by the elements of the kernel (divisor 0), of the window
//   clipped to the input (1, and for
//            adaptive cells), or of the window clipped to the padded input (2)
//
// dt_pool         args X, Y           writes Y
// dt_pool_index   args X, Y, Mask     writes Y and where in its plane the (first) largest element
// stands; "max" only dt_pool_bwd     args X, Y, dY, dX   writes dX. "max": the first element in row
// order that equals Y takes the gradient; X and Y
//                                     are not read by "avg".
//
// float32 or float64; planes are shared out over the threads, so the bits do not depend on their
// number.
#pragma once

#include "runtime/exec/abi.h"

extern "C" int32_t dt_pool(DtContext* context, const DtCall* call);
extern "C" int32_t dt_pool_index(DtContext* context, const DtCall* call);
extern "C" int32_t dt_pool_bwd(DtContext* context, const DtCall* call);
