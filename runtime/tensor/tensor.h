// Dense values on the host: what files hold, what feeds and persistables are given as. Read and
// written by runtime/io, handed to and taken from plans by runtime/exec.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/base/dtype.h"
#include "runtime/tensor/aligned_bytes.h"

namespace dtranspile {

// Offsets per level: level k cuts the items of level k + 1, the last one the rows (leading
// dimension) of the tensor. Each level begins with 0 and does not decrease. Empty for ordinary
// tensors.
using Lod = std::vector<std::vector<uint64_t>>;

// The product of the extents; 1 for rank 0. kInvalidArgument for a negative extent and for a
// product above 2^63 - 1.
absl::StatusOr<int64_t> ElementCount(const std::vector<int64_t>& dims);

// The bytes of that many elements; errors of ElementCount, and kInvalidArgument for a type without
// a size.
absl::StatusOr<int64_t> ByteCount(DType dtype, const std::vector<int64_t>& dims);

// "float32[8, 10]", for messages.
std::string ShapeText(DType dtype, const std::vector<int64_t>& dims);

// Elements that somebody else owns: row-major, contiguous, ByteCount(dtype, dims) bytes.
struct TensorView {
  DType dtype = DType::kFloat32;
  std::vector<int64_t> dims;
  const std::byte* data = nullptr;

  // Rows [begin, begin + count) of the leading dimension; kOutOfRange where there are none such.
  absl::StatusOr<TensorView> Rows(int64_t begin, int64_t count) const;

  // Bytes of the elements. The view must be of checked extents.
  int64_t bytes() const;
};

struct Tensor {
  DType dtype = DType::kFloat32;
  std::vector<int64_t> dims;
  Lod lod;
  AlignedBytes bytes;  // row-major; ByteCount(dtype, dims) of them

  // Errors of ByteCount and of AlignedBytes::Zeros.
  static absl::StatusOr<Tensor> Zeros(DType dtype, std::vector<int64_t> dims);

  // A tensor with a copy of the elements of `view`.
  static absl::StatusOr<Tensor> Copy(const TensorView& view);

  absl::StatusOr<Tensor> Clone() const;
  TensorView view() const { return {dtype, dims, bytes.data()}; }

  // The elements as T, of which the caller knows that it is the type.
  template <typename T>
  T* as() {
    return reinterpret_cast<T*>(bytes.data());
  }
  template <typename T>
  const T* as() const {
    return reinterpret_cast<const T*>(bytes.data());
  }
};

// A row-sparse tensor: row r of the dense [height, ...] value is the sum of all value rows whose
// entry of `rows` is r.
struct SelectedRows {
  std::vector<int64_t> rows;  // any order, may repeat
  int64_t height = 0;         // leading extent of the dense value
  Tensor value;               // [rows.size(), ...]
};

}  // namespace dtranspile
