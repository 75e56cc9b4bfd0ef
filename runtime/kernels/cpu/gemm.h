// Matrix products for plans (abi.h, library calls). Called by name through table.h.
//
// dt_gemm             C = alpha · op(A) · op(B) + beta · C, row-major, for every matrix of a batch
//   args     A, B, C  (all float32 or all float64; C is not read when beta is 0)
//   ints     transA, transB, M, N, K, lda, ldb, ldc, batch, strideA, strideB, strideC
//            op(A) is M×K, op(B) is K×N, C is M×N. Leading dimensions and strides in elements; a stride of 0 repeats the
//            matrix. Optionally four more: outer, outerStrideA, outerStrideB, outerStrideC; the batch is then repeated
//            `outer` times (heads of attention in place: batch over heads, outer over samples).
//   reals    alpha, beta
// float32 calls oneDNN on tiles whose size depends on M, N and K only, float64 an own blocked loop; either way the result has the
// same bits for any number of threads. Matrices of C must not overlap.
#pragma once

#include "runtime/exec/abi.h"

extern "C" int32_t dt_gemm(DtContext* context, const DtCall* call);
