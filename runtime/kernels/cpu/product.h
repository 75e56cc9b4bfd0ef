// Products of contiguous matrices for kernels that need one on the way: dt_gemm without a plan. Not from within a body of dt_parallel.
#pragma once

#include <cstdint>

#include "runtime/kernels/cpu/support.h"

namespace dtranspile::kernels {

// A is m×k (stored k×m where transposed), B k×n (n×k), C m×n: C = alpha · op(A) · op(B) + beta · C, for `batch` of them one after another, or at a
// stride of 0.
struct ContiguousProduct {
  bool trans_a = false, trans_b = false;
  int64_t m = 0, n = 0, k = 0;
  double alpha = 1, beta = 0;
  int64_t batch = 1, stride_a = 0, stride_b = 0, stride_c = 0;
};

// float32 or float64; the caller has checked that the memory is there.
int32_t Multiply(DtContext* context, DType dtype, const ContiguousProduct& product, const void* a, const void* b, void* c);

}  // namespace dtranspile::kernels
