#include "runtime/io/strided.h"

#include <algorithm>
#include <cstring>

namespace dtranspile::io {
namespace {

void GatherFrom(const StridedBox& box, size_t level, int64_t element, const char* from, char* to) {
  const int64_t bytes = box.Bytes(level, element);
  if (box.Contiguous(level, element)) {
    std::memcpy(to, from, static_cast<size_t>(bytes));
    return;
  }
  const int64_t each = bytes / box.counts[level];
  for (int64_t i = 0; i < box.counts[level]; ++i) {
    GatherFrom(box, level + 1, element, from + i * box.strides[level], to + i * each);
  }
}

}  // namespace

int64_t StridedBox::Span(size_t level, int64_t element) const {
  int64_t span = element;
  for (size_t d = level; d < counts.size(); ++d) span += (counts[d] - 1) * strides[d];
  return span;
}

int64_t StridedBox::Bytes(size_t level, int64_t element) const {
  int64_t bytes = element;
  for (size_t d = level; d < counts.size(); ++d) bytes *= counts[d];
  return bytes;
}

bool StridedBox::Contiguous(size_t level, int64_t element) const {
  for (size_t d = counts.size(); d-- > level;) {
    if (counts[d] > 1 && strides[d] != element) return false;
    element *= counts[d];
  }
  return true;
}

std::vector<int64_t> RowMajorStrides(const std::vector<int64_t>& dims, int64_t element) {
  std::vector<int64_t> strides(dims.size());
  for (size_t d = dims.size(); d-- > 0;) {
    strides[d] = element;
    element *= dims[d];
  }
  return strides;
}

std::vector<int64_t> FortranStrides(const std::vector<int64_t>& dims, int64_t element) {
  std::vector<int64_t> reversed = RowMajorStrides({dims.rbegin(), dims.rend()}, element);
  std::reverse(reversed.begin(), reversed.end());
  return reversed;
}

void Gather(const StridedBox& box, int64_t element, const char* from, char* to) {
  GatherFrom(box, 0, element, from, to);
}

}  // namespace dtranspile::io
