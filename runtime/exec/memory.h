// Memory of a plan: one block for step-local tensors, one for persistables, one for constants. Used
// by the executor.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "runtime/comm/shared_memory.h"

namespace dtranspile::exec {

// When pages are taken: all at once, or each (a small one) when it is first written.
enum class Pages : uint8_t { kNow, kWhenWritten };

// Zero-filled anonymous pages, huge ones where the system has them, present before the first step:
// fresh pages come in at a tenth of the speed of memory.
class Block {
 public:
  Block() = default;
  ~Block();
  Block(Block&& other) noexcept;
  Block& operator=(Block&& other) noexcept;

  // `what` names the block in messages. Fails when the machine has less memory than `bytes`. 0
  // bytes give an empty block.
  static absl::StatusOr<Block> Allocate(int64_t bytes, const char* what, Pages pages = Pages::kNow);

  std::byte* data() const { return data_; }
  int64_t size() const { return size_; }

  // The same in memory that ranks of this host reach directly; private memory where there is none.
  static absl::StatusOr<Block> AllocateShared(int64_t bytes, const char* what);

  // Hands private pages back to the system: the block is zero, and takes no memory, until it is
  // written again.
  void Drop();

  // Makes the block read-only.
  absl::Status Seal();

 private:
  std::byte* data_ = nullptr;
  int64_t size_ = 0;
  void* mapping_ = nullptr;
  size_t mapped_ = 0;
  comm::SharedMemory shared_;
};

}  // namespace dtranspile::exec
