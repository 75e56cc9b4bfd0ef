// Tensors seen as batches of matrices, and which products of them one call of dt_gemm can do. Used
// by rules/linear_algebra.cc.
#pragma once

#include <cstdint>
#include <vector>

#include "compiler/lower/op_lowering.h"

namespace dtranspile::lower {

// One side of a product. `batch` counts from the outermost dim; [] is one matrix.
struct Matrices {
  TensorRef tensor;
  std::vector<int64_t> batch;
  int64_t rows = 1, columns = 1;  // as stored
  bool transposed = false;

  int64_t batchSize() const {
    int64_t n = 1;
    for (int64_t d : batch) n *= d;
    return n;
  }
  Matrices flipped() const {
    Matrices m = *this;
    m.transposed = !transposed;
    return m;
  }
};

// Of dims [from, to).
int64_t productOf(const std::vector<int64_t>& dims, size_t from, size_t to);

// Whether no extent depends on data.
bool isKnown(const TensorRef& tensor);

// Whether batches are of known extents and equal, or one side has none: what does not broadcast in
// part. Leading extents of 1 are none.
bool plainBatches(const Matrices& a, const Matrices& b);

// Whether the gradients of a · b are products as well. A gradient that is a sum over the batch is
// one product only where the batch lies along the contracted dim of both factors.
bool plainGradients(const Matrices& a, const Matrices& b);

// Whether `out` has as many elements as op(a) · op(b), whose contracted extents agree. Of no
// elements there is no product to look at.
bool isProduct(const Matrices& a, const Matrices& b, const TensorRef& out);

// The batch that the product has: that of the side with more matrices.
std::vector<int64_t> longerBatch(const Matrices& a, const Matrices& b);

}  // namespace dtranspile::lower
