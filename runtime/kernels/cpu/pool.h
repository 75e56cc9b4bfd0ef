// Pooling over two or three axes, as the framework's pool2d, pool3d and max_pool*_with_index: calls
// of plans (signatures/convolution.calls).
//
// X and Out are [N, C, H, W], with channels_last [N, H, W, C], maybe with a depth before the
// height.
//   ksize strides paddings   one for each axis, padding before it. Global pooling is a kernel of
//                            the input's extents without padding. ceil_mode shows in the extents of
//                            Out only; windows are clipped to the input.
//   adaptive      the three are not used: cell p of P covers [⌊p·H/P⌋, ⌈(p+1)·H/P⌉) of an axis
//   pooling_type  max, or avg, which divides by `divisor`: the elements of the kernel (0), of the
//                 window clipped to the input (1, and for adaptive cells), or of the window clipped
//                 to the padded input (2)
//   extents       of Out along the axes, for results whose batch only the run knows
//
// float32 or float64; planes are shared out over the threads, so the bits do not depend on their
// number.
#pragma once

#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

int32_t PoolForward(OpCall& call);
// Also where in its plane the (first) largest element stands; max only.
int32_t PoolIndex(OpCall& call);
// max: the first element in row order that equals Out takes the gradient; avg does not read X and
// Out.
int32_t PoolBwd(OpCall& call);

}  // namespace dtranspile::kernels
