// A block of host memory that begins on a 64-byte boundary, as generated kernels and library calls
// ask for (runtime/exec/abi.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "absl/status/statusor.h"

namespace dtranspile {

// Move-only: copies of tensors are asked for by name (Tensor::Clone).
class AlignedBytes {
 public:
  static constexpr size_t kAlignment = 64;

  AlignedBytes() = default;

  // `size` zero bytes. kInvalidArgument for a negative size, kResourceExhausted when there is no
  // such memory.
  static absl::StatusOr<AlignedBytes> Zeros(int64_t size);

  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }
  int64_t size() const { return size_; }

 private:
  struct Free {
    void operator()(std::byte* data) const { std::free(data); }
  };

  std::unique_ptr<std::byte[], Free> data_;
  int64_t size_ = 0;
};

}  // namespace dtranspile
