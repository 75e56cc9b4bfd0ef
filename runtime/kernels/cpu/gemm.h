// Matrix products: the call dt_gemm of plans, and Multiply for kernels that need a product on their
// way (recurrent cells, context windows); not from within a body of dt_parallel.
//
// float32 calls oneDNN on tiles whose size depends on M, N and K only, float64 an own blocked loop;
// either way the result has the same bits for any number of threads. Matrices of C must not
// overlap.
#pragma once

#include "runtime/base/dtype.h"
#include "runtime/exec/abi.h"
#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

// C = alpha · op(A) · op(B) + beta · C: op(A) is m×k, op(B) is k×n, C is m×n, row-major with
// leading dimensions; C is not read when beta is 0.
struct Product {
  bool trans_a, trans_b;
  int64_t m, n, k, lda, ldb, ldc;
  double beta = 0, alpha = 1;
  int64_t batch = 1, stride_a = 0, stride_b = 0,
          stride_c = 0;  // so many of them; a stride of 0 repeats the matrix
};

// Of matrices without gaps: A is stored m×k (k×m where transposed), B k×n (n×k).
constexpr Product Contiguous(bool trans_a, bool trans_b, int64_t m, int64_t n, int64_t k,
                             double beta = 0) {
  return {trans_a, trans_b, m, n, k, trans_a ? m : k, trans_b ? k : n, n, beta};
}

// 0, or 1 with a message. The caller knows that the memory is large enough and C does not overlap.
int32_t Multiply(DtContext* context, const Product& product, const float* a, const float* b,
                 float* c);
int32_t Multiply(DtContext* context, const Product& product, const double* a, const double* b,
                 double* c);
// For elements of that type, which is one of these two.
int32_t Multiply(DtContext* context, DType dtype, const Product& product, const void* a,
                 const void* b, void* c);

// dt_gemm: C = alpha · op(A) · op(B) for every matrix of a batch, row-major; op(A) is m×k, op(B) is
// k×n. Leading dimensions and strides (from one matrix of the batch to the next; 0 repeats it) in
// elements. Extents are those of the attributes: those of the arguments only have to suffice.
int32_t Gemm(OpCall& call);

}  // namespace dtranspile::kernels
