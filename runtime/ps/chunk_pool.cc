#include "runtime/ps/chunk_pool.h"

#include <cstdlib>
#include <new>

#include "runtime/ps/table.h"

namespace dtranspile::ps {
namespace {

// 64 MiB; what a large push takes beyond that goes back to the system.
constexpr size_t kMostKept = 64;

}  // namespace

struct ChunkPool::Lent {
  std::shared_ptr<ChunkPool> pool;
  std::byte* chunk;

  static void Done(void* data) {
    const std::unique_ptr<Lent> self(static_cast<Lent*>(data));
    self->pool->Return(self->chunk);
  }
};

ChunkPool::~ChunkPool() {
  for (std::byte* chunk : free_) std::free(chunk);
}

// The lock covers the list only; new memory is allocated outside of it.
std::byte* ChunkPool::Take() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!free_.empty()) {
      std::byte* const chunk = free_.back();
      free_.pop_back();
      return chunk;
    }
  }
  auto* const chunk = static_cast<std::byte*>(std::malloc(static_cast<size_t>(kChunkBytes)));
  if (chunk == nullptr) throw std::bad_alloc();
  return chunk;
}

grpc::Slice ChunkPool::Lend(std::byte* chunk, size_t bytes) {
  return {chunk, bytes, &Lent::Done, new Lent{shared_from_this(), chunk}};
}

void ChunkPool::Return(std::byte* chunk) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (free_.size() < kMostKept) {
      free_.push_back(chunk);
      return;
    }
  }
  std::free(chunk);
}

}  // namespace dtranspile::ps
