// Memory for the messages of pushes, used again and again: fresh memory costs more than the copy
// into it. Used by the client (client.h).
#pragma once

#include <grpcpp/support/slice.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

namespace dtranspile::ps {

class ChunkPool : public std::enable_shared_from_this<ChunkPool> {
 public:
  ~ChunkPool();

  // kChunkBytes of memory.
  std::byte* Take();
  // The first bytes of it as a slice; it comes back when gRPC has let go of the slice, also after
  // the last use of the pool here.
  grpc::Slice Lend(std::byte* chunk, size_t bytes);

 private:
  struct Lent;
  void Return(std::byte* chunk);

  std::mutex mutex_;
  std::vector<std::byte*> free_;
};

}  // namespace dtranspile::ps
