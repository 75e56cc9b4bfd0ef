// Boxes of arrays in memory whose dimensions have any strides: parts of files and arrays in Fortran
// order become row-major. Used by npy.cc and the pickle reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dtranspile::io {

struct StridedBox {
  std::vector<int64_t> counts;   // extents, outermost first, none of them 0
  std::vector<int64_t> strides;  // in bytes

  // Bytes from the first to one past the last element of dimensions [level, rank).
  int64_t Span(size_t level, int64_t element) const;

  // Bytes of the elements in them.
  int64_t Bytes(size_t level, int64_t element) const;

  // Whether they are one run in row-major order.
  bool Contiguous(size_t level, int64_t element) const;
};

std::vector<int64_t> RowMajorStrides(const std::vector<int64_t>& dims, int64_t element);

// Strides of an array whose first dimension is the fastest.
std::vector<int64_t> FortranStrides(const std::vector<int64_t>& dims, int64_t element);

// Copies the box that begins at `from`, elements of `element` bytes, to contiguous memory.
void Gather(const StridedBox& box, int64_t element, const char* from, char* to);

}  // namespace dtranspile::io
