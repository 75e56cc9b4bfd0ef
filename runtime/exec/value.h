// A value whose extents, LoD or rows are known only while a step runs: ragged batches, results of
// `unique` or `where`, SelectedRows, lists of tensors, what loops carry. It owns memory that grows
// to the largest extents seen and stays (design.md 6: no allocation after the high-water mark). The
// executor has one per such buffer of the plan; library calls reach it through DtBuffer::value
// (abi.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "runtime/base/dtype.h"
#include "runtime/tensor/tensor.h"

namespace dtranspile::exec {

class Value {
 public:
  enum class Kind : int32_t {
    kTensor,  // dims, lod, data
    kRows,    // SelectedRows: dims and data are those of the values [rows.size(), ..], `rows` their
              // row numbers in a tensor of `height` rows
    kList,    // tensor array: `items`
  };

  Value() = default;
  Value(Kind kind, DType dtype) : kind(kind), dtype(dtype) {}
  Value(Value&& other) noexcept { *this = std::move(other); }
  Value& operator=(Value&& other) noexcept;
  ~Value();

  // New extents; the content is undefined afterwards. kInvalidArgument for extents that are
  // negative or overflow, kResourceExhausted without memory. LoD is dropped. `extents` may be those
  // of this value.
  absl::Status Resize(absl::Span<const int64_t> extents);

  // A deep copy.
  absl::Status Assign(const Value& other);
  absl::Status Assign(const TensorView& view);

  // Exchanges contents, memory included.
  void Swap(Value& other) noexcept;

  int64_t count() const;
  int64_t bytes() const { return count() * static_cast<int64_t>(SizeOf(dtype)); }
  std::byte* data() const { return data_; }
  TensorView view() const { return {dtype, dims, data_}; }
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }

  Kind kind = Kind::kTensor;
  DType dtype = DType::kFloat32;
  std::vector<int64_t> dims = {0};
  Lod lod;
  std::vector<int64_t> rows;  // kRows
  int64_t height = 0;         // kRows
  std::vector<Value> items;   // kList; those never written are empty: dims {0}

 private:
  std::byte* data_ = nullptr;
  int64_t capacity_ = 0;
};

}  // namespace dtranspile::exec
