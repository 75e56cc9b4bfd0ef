// Scratch is a list of chunks that is filled from the front at every call and never given back:
// after the first step a call finds all that it needs. A loop is cut into equal parts, as many as
// keep every thread busy; bodies compute each item by itself, so that neither the cuts nor which
// thread runs a part change a result. Memory that runs out in a part is carried back to the caller,
// as an exception on a thread of the pool would end the process.
#include "runtime/exec/context.h"

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "runtime/exec/value.h"

namespace {

constexpr int64_t kAlignment = 64;
constexpr int64_t kChunkBytes = int64_t{1} << 20;

// What dt_parallel shares out.
struct Loop {
  void (*body)(void*, int64_t, int64_t);
  void* arg;
  int64_t extent;
  int64_t parts;
  std::atomic<bool> out_of_memory{false};
};

int64_t Begin(const Loop& loop, int64_t part) {
  return loop.extent / loop.parts * part + std::min(part, loop.extent % loop.parts);
}

// What a body may throw is that memory has run out; on a thread of the pool nobody would catch it.
void RunPart(void* arg, int64_t part) {
  Loop& loop = *static_cast<Loop*>(arg);
  const int64_t lo = Begin(loop, part);
  try {
    loop.body(loop.arg, lo, Begin(loop, part + 1) - lo);
  } catch (const std::bad_alloc&) {
    loop.out_of_memory = true;
  }
}

}  // namespace

DtContext::DtContext(dtranspile::exec::ThreadPool* pool) : pool_(pool) { message_[0] = 0; }

DtContext::~DtContext() {
  for (const Kept& kept : kept_) kept.destroy(kept.state);
  for (const Chunk& chunk : chunks_) std::free(chunk.data);
}

// The boundary of the C ABI: a call returns 0, or another number after dt_fail has written a
// message. Exceptions of the standard library's allocations end here. Scratch memory of the call
// before is free again.
absl::Status DtContext::Call(DtFunction function, const DtCall& call) {
  for (Chunk& chunk : chunks_) chunk.used = 0;
  chunk_ = 0;
  message_[0] = 0;
  try {
    if (function(this, &call) == 0) return absl::OkStatus();
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError(absl::StrCat(call.name, ": no memory is left"));
  } catch (const std::length_error&) {
    return absl::ResourceExhaustedError(
        absl::StrCat(call.name, ": more elements than memory holds"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat(call.name, ": ", message_[0] ? message_ : "failed without a message"));
}

void DtContext::Fail(const char* format, va_list arguments) {
  vsnprintf(message_, sizeof(message_), format, arguments);
}

// First fit from the current chunk on; the caller gets memory that is aligned for vectors and lives
// until the call ends. Null where there is none.
void* DtContext::Scratch(int64_t bytes) {
  if (bytes < 0) return nullptr;
  const int64_t size = (std::max<int64_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  while (chunk_ < chunks_.size() && chunks_[chunk_].size - chunks_[chunk_].used < size) ++chunk_;
  if (chunk_ == chunks_.size()) {
    const int64_t chunk_size = std::max(size, kChunkBytes);
    auto* data =
        static_cast<std::byte*>(std::aligned_alloc(kAlignment, static_cast<size_t>(chunk_size)));
    if (data == nullptr) return nullptr;
    chunks_.push_back({data, chunk_size, 0});
  }
  Chunk& chunk = chunks_[chunk_];
  void* result = chunk.data + chunk.used;
  chunk.used += size;
  return result;
}

void DtContext::Keep(void* state, void (*destroy)(void*)) { kept_.push_back({state, destroy}); }

extern "C" {

int32_t dt_fail(DtContext* context, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  context->Fail(format, arguments);
  va_end(arguments);
  return 1;
}

// A call says the extents of an output. A value is resized; a buffer of fixed extents must have
// them.
int32_t dt_resize(DtContext* context, DtBuffer* buffer, const int64_t* dims, int32_t rank) {
  const absl::Span<const int64_t> extents(dims, static_cast<size_t>(rank));
  if (buffer->value != nullptr) {
    auto& value = *static_cast<dtranspile::exec::Value*>(buffer->value);
    const absl::Status status = value.Resize(extents);
    buffer->data = value.data();
    buffer->dims = value.dims.data();
    buffer->rank = static_cast<int32_t>(value.dims.size());
    buffer->dtype = static_cast<int32_t>(value.dtype);
    return status.ok() ? 0
                       : dt_fail(context, "output '%s': %s", buffer->name,
                                 std::string(status.message()).c_str());
  }
  const absl::Span<const int64_t> planned(buffer->dims, static_cast<size_t>(buffer->rank));
  if (planned == extents) return 0;
  return dt_fail(context, "output '%s' has the extents [%s], the program was compiled for [%s]",
                 buffer->name, absl::StrJoin(extents, ", ").c_str(),
                 absl::StrJoin(planned, ", ").c_str());
}

// `grain` is the least number of items that is worth a thread.
void dt_parallel(DtContext* context, int64_t extent, int64_t grain,
                 void (*body)(void*, int64_t, int64_t), void* arg) {
  if (extent <= 0) return;
  const int64_t most = std::max<int64_t>(extent / std::max<int64_t>(grain, 1), 1);
  const int64_t threads = context->pool().threads();
  if (most == 1 || threads == 1) return body(arg, 0, extent);
  // As many for every thread, where there is a choice: three halves take as long as four.
  int64_t parts = std::min(most, threads * dtranspile::exec::ThreadPool::kPiecesPerThread);
  if (parts > threads) parts -= parts % threads;
  Loop loop{body, arg, extent, parts};
  context->pool().Run(loop.parts, RunPart, &loop);
  if (loop.out_of_memory) throw std::bad_alloc();
}

int32_t dt_threads(DtContext* context) { return context->pool().threads(); }

int32_t dt_thread(DtContext*) { return dtranspile::exec::ThreadPool::CurrentThread(); }

void* dt_scratch(DtContext* context, int64_t bytes) { return context->Scratch(bytes); }

void dt_keep(DtContext* context, void* state, void (*destroy)(void*)) {
  context->Keep(state, destroy);
}

}  // extern "C"
