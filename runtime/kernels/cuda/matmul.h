// Matrix product on the GPU through cuBLASLt: the first library call of the CUDA runtime plug-in.
// Called by plans whose buffers lie in device memory.
#pragma once

#include "runtime/exec/abi.h"

extern "C" {

// args: a [m, k], b [k, n], c [m, n], row-major, in device memory, all of one type (float32,
// float16 or bfloat16); sums in float32. ints: 1 where a, b are given transposed ([k, m], [n, k]).
// reals: alpha, beta. c = alpha · a · b + beta · c.
int32_t dt_cuda_matmul(DtContext* context, const DtCall* call);
}
