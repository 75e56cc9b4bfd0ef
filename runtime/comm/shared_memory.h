// Memory of this process that other ranks of its host can map, so that they reduce from it and into
// it directly. The executor takes its step memory from here; collectives.cc asks where a request's
// buffers lie, shm/ maps those of the peers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/comm/communicator.h"

namespace dtranspile::comm {

// What a peer needs to find a block: plain bytes, travels in headers. inode 0: none.
struct ShareId {
  int32_t pid = 0, fd = -1;
  uint64_t device = 0, inode = 0, bytes = 0;
  bool operator==(const ShareId&) const = default;
};

// Zero-filled whole pages, huge ones where the system has them, without a name in any folder: it
// goes with the last process that maps it.
class SharedMemory {
 public:
  SharedMemory() = default;
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  // kResourceExhausted where the system gives no such memory; callers then take private memory, and
  // peers go without.
  static absl::StatusOr<SharedMemory> Allocate(size_t bytes);
  // A block of another process of this user. An error where it cannot be reached (another
  // namespace) or is another one by now.
  static absl::StatusOr<SharedMemory> Map(const ShareId& id);

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;
  int fd_ = -1;  // of the owner
};

// Where the pieces of a request lie, if all of them lie in one block of this process.
struct Place {
  ShareId share;
  std::byte* base = nullptr;
  uint64_t layout = 0;  // hash of their offsets from `base`
};
Place PlaceOf(const Request& request, size_t element_bytes);

}  // namespace dtranspile::comm
