// Convolutions over two or three axes for plans (abi.h, library calls). Called by name through
// call_table.h.
//
// All three take                          X  [N, C, H, W] or [N, H, W, C]       F  [O, C / groups,
// KH, KW]
//                                         Y  [N, O, P, Q] or [N, P, Q, O]       (a depth before the
//                                         height where there are three)
//   ints     a stride per axis, padding before and after each axis, a dilation per axis, groups,
//   layout
//            dilation 1 is a dense filter; layout 0 is NCHW, 1 is NHWC (of X and Y; F is OIHW
//            always)
// and compute the cross-correlation  Y[n,o,p,q] = Σ X[n, c, p·sh − top + i·dh, q·sw − left + j·dw]
// · F[o,c,i,j]  or its gradients. A transposed convolution is dt_conv_bwd_data.
//
// dt_conv               args X, F, Y     writes Y
// dt_conv_bwd_data      args F, dY, dX   writes dX; args F, dY, X, dX where only the run knows the
// extents, which are those of X dt_conv_bwd_weights   args X, dY, dF   writes dF
//
// All float32 (oneDNN, in its own formats, reordered part by part) or all float64 (plain loops).
// The batch is cut into parts whose number depends on the extents only, gradients of parts are
// summed in order: the same bits for any number of threads.
#pragma once

#include "runtime/exec/abi.h"

extern "C" int32_t dt_conv(DtContext* context, const DtCall* call);
extern "C" int32_t dt_conv_bwd_data(DtContext* context, const DtCall* call);
extern "C" int32_t dt_conv_bwd_weights(DtContext* context, const DtCall* call);
