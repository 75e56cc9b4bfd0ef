// Matrix product on the GPU through cuBLASLt: the first library call of the CUDA runtime plug-in.
// Called by plans whose buffers lie in device memory.
#pragma once

#include "runtime/exec/abi.h"

extern "C" {

// dt_cuda_matmul(a, b; transpose_a:bool, transpose_b:bool, alpha:real, beta:real) -> c: a [m, k], b
// [k, n], c [m, n], row-major, in device memory, all of one type (float32, float16 or bfloat16);
// sums in float32; a, b may be given transposed ([k, m], [n, k]). c = alpha · a · b + beta · c.
int32_t dt_cuda_matmul(DtContext* context, const DtCall* call);
}
