// Matrix products for plans (abi.h, library calls). Called by name through call_table.h.
//
// dt_gemm             C = alpha · op(A) · op(B) + beta · C, row-major, for every matrix of a batch
//   args     A, B, C  (all float32 or all float64; C is not read when beta is 0)
//   ints     transA, transB, M, N, K, lda, ldb, ldc, batch, strideA, strideB, strideC
//            op(A) is M×K, op(B) is K×N, C is M×N. Leading dimensions and strides in elements; a
//            stride of 0 repeats the matrix. Optionally four more: outer, outerStrideA,
//            outerStrideB, outerStrideC; the batch is then repeated `outer` times (heads of
//            attention in place: batch over heads, outer over samples).
//   reals    alpha, beta
// float32 calls oneDNN on tiles whose size depends on M, N and K only, float64 an own blocked loop;
// either way the result has the same bits for any number of threads. Matrices of C must not
// overlap.
//
// Multiply is the same for kernels that need a product on their way (recurrent cells, context
// windows); not from within a body of dt_parallel.
#pragma once

#include "runtime/base/dtype.h"
#include "runtime/exec/abi.h"

extern "C" int32_t dt_gemm(DtContext* context, const DtCall* call);

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

}  // namespace dtranspile::kernels
