#include "runtime/tensor/tensor.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/status.h"

namespace dtranspile {

absl::StatusOr<int64_t> ElementCount(const std::vector<int64_t>& dims) {
  // Every extent is looked at, also after a zero: [0, -1] is as wrong as [-1].
  int64_t count = 1;
  bool overflow = false;
  bool empty = false;
  for (int64_t dim : dims) {
    if (dim < 0) return absl::InvalidArgumentError(absl::StrCat("negative extent ", dim));
    if (dim == 0) empty = true;
    if (__builtin_mul_overflow(count, std::max<int64_t>(dim, 1), &count)) overflow = true;
  }
  if (empty) return 0;
  if (overflow) {
    return absl::InvalidArgumentError(
        absl::StrCat("the extents [", absl::StrJoin(dims, ", "), "] have more than 2^63 elements"));
  }
  return count;
}

absl::StatusOr<int64_t> ByteCount(DType dtype, const std::vector<int64_t>& dims) {
  const int64_t size = static_cast<int64_t>(SizeOf(dtype));
  if (size == 0) return absl::InvalidArgumentError("an element type without a size");
  DT_ASSIGN_OR_RETURN(const int64_t count, ElementCount(dims));
  int64_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat(ShapeText(dtype, dims), " has more than 2^63 bytes"));
  }
  return bytes;
}

std::string ShapeText(DType dtype, const std::vector<int64_t>& dims) {
  return absl::StrCat(NameOf(dtype), "[", absl::StrJoin(dims, ", "), "]");
}

absl::StatusOr<TensorView> TensorView::Rows(int64_t begin, int64_t count) const {
  if (dims.empty()) return absl::OutOfRangeError("a tensor of rank 0 has no rows");
  if (begin < 0 || count < 0 || begin > dims[0] || count > dims[0] - begin) {
    return absl::OutOfRangeError(
        absl::StrCat("rows [", begin, ", ", begin, " + ", count, ") of ", ShapeText(dtype, dims)));
  }
  TensorView rows{dtype, dims, data};
  rows.dims[0] = count;
  if (dims[0] > 0) rows.data += begin * (bytes() / dims[0]);
  return rows;
}

int64_t TensorView::bytes() const {
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return 0;
  int64_t size = static_cast<int64_t>(SizeOf(dtype));
  for (int64_t dim : dims) size *= dim;
  return size;
}

absl::StatusOr<Tensor> Tensor::Zeros(DType dtype, std::vector<int64_t> dims) {
  Tensor tensor;
  DT_ASSIGN_OR_RETURN(const int64_t size, ByteCount(dtype, dims));
  DT_ASSIGN_OR_RETURN(tensor.bytes, AlignedBytes::Zeros(size));
  tensor.dtype = dtype;
  tensor.dims = std::move(dims);
  return tensor;
}

absl::StatusOr<Tensor> Tensor::Copy(const TensorView& view) {
  DT_ASSIGN_OR_RETURN(Tensor tensor, Zeros(view.dtype, view.dims));
  if (tensor.bytes.size() > 0) {
    std::memcpy(tensor.bytes.data(), view.data, static_cast<size_t>(tensor.bytes.size()));
  }
  return tensor;
}

absl::StatusOr<Tensor> Tensor::Clone() const {
  DT_ASSIGN_OR_RETURN(Tensor tensor, Copy(view()));
  tensor.lod = lod;
  return tensor;
}

}  // namespace dtranspile
