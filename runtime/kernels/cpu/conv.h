// 2-D convolutions for plans (abi.h, library calls). Called by name through table.h.
//
// All three take                          X  [N, C, H, W] or [N, H, W, C]       F  [O, C / groups, KH, KW]
//                                         Y  [N, O, P, Q] or [N, P, Q, O]
//   ints     strideH, strideW, padTop, padBottom, padLeft, padRight, dilationH, dilationW, groups, layout
//            dilation 1 is a dense filter; layout 0 is NCHW, 1 is NHWC (of X and Y; F is OIHW always)
// and compute the cross-correlation  Y[n,o,p,q] = Σ X[n, c, p·sh − top + i·dh, q·sw − left + j·dw] · F[o,c,i,j]  or its gradients.
//
// dt_conv2d               args X, F, Y     writes Y
// dt_conv2d_bwd_data      args F, dY, dX   writes dX
// dt_conv2d_bwd_weights   args X, dY, dF   writes dF
//
// All float32 (oneDNN, in its own formats, reordered part by part) or all float64 (plain loops). The batch is cut into parts
// whose number depends on the extents only, gradients of parts are summed in order: the same bits for any number of threads.
#pragma once

#include "runtime/exec/abi.h"

extern "C" int32_t dt_conv2d(DtContext* context, const DtCall* call);
extern "C" int32_t dt_conv2d_bwd_data(DtContext* context, const DtCall* call);
extern "C" int32_t dt_conv2d_bwd_weights(DtContext* context, const DtCall* call);
