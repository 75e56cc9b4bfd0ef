#include "runtime/tensor/aligned_bytes.h"

#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"

namespace dtranspile {

absl::StatusOr<AlignedBytes> AlignedBytes::Zeros(int64_t size) {
  if (size < 0) return absl::InvalidArgumentError(absl::StrCat("negative size ", size));
  AlignedBytes bytes;
  if (size == 0) return bytes;
  const auto kLargest = std::numeric_limits<int64_t>::max() - static_cast<int64_t>(kAlignment);
  void* memory = nullptr;
  if (size <= kLargest) {
    const size_t rounded = (static_cast<size_t>(size) + kAlignment - 1) / kAlignment * kAlignment;
    memory = std::aligned_alloc(kAlignment, rounded);
  }
  if (!memory) return absl::ResourceExhaustedError(absl::StrCat("no memory for ", size, " bytes"));
  std::memset(memory, 0, static_cast<size_t>(size));
  bytes.data_.reset(static_cast<std::byte*>(memory));
  bytes.size_ = size;
  return bytes;
}

}  // namespace dtranspile
