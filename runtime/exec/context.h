// The context that library calls get (abi.h): threads, scratch, the message of a failure, state
// kept between calls. The executor owns one per loaded plan; tests of kernels make their own.
#pragma once

#include <cstdarg>
#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "runtime/exec/abi.h"
#include "runtime/exec/thread_pool.h"

struct DtContext {
 public:
  // `pool` outlives the context.
  explicit DtContext(dtranspile::exec::ThreadPool* pool);
  ~DtContext();
  DtContext(const DtContext&) = delete;
  DtContext& operator=(const DtContext&) = delete;

  // Calls `function`; its message becomes the status: "NAME: message". The caller holds a
  // NumericScope.
  absl::Status Call(DtFunction function, const DtCall& call);

  dtranspile::exec::ThreadPool& pool() { return *pool_; }
  void Fail(const char* format, va_list arguments);
  void* Scratch(int64_t bytes);
  void Keep(void* state, void (*destroy)(void*));

 private:
  struct Chunk {
    std::byte* data;
    int64_t size;
    int64_t used;
  };
  struct Kept {
    void* state;
    void (*destroy)(void*);
  };

  dtranspile::exec::ThreadPool* pool_;
  char message_[1024];
  // Chunks are filled in order and never given back, so that a step that makes the same calls again
  // finds all it needs.
  std::vector<Chunk> chunks_;
  size_t chunk_ = 0;
  std::vector<Kept> kept_;
};
