// Convolutions over two or three axes: calls of plans (signatures/convolution.calls).
//
//   X  [N, C, H, W] or [N, H, W, C]       F  [O, C / groups, KH, KW]
//   Y  [N, O, P, Q] or [N, P, Q, O]       a depth before the height where there are three axes
//
// A stride and a dilation (1: dense) for each axis, padding before and after each. They compute the
// cross-correlation  Y[n,o,p,q] = Σ X[n, c, p·sh − top + i·dh, q·sw − left + j·dw] · F[o,c,i,j]  or
// its gradients. A transposed convolution is dt_conv_bwd_data; given X, its result has the extents
// of X.
//
// All float32 (oneDNN, in its own formats, reordered part by part) or all float64 (plain loops).
// The batch is cut into parts whose number depends on the extents only, gradients of parts are
// summed in order: the same bits for any number of threads.
#pragma once

#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

int32_t Conv(OpCall& call);
int32_t ConvBwdData(OpCall& call);
int32_t ConvBwdWeights(OpCall& call);

}  // namespace dtranspile::kernels
