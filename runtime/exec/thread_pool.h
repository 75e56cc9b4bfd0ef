// The threads of one rank. A job is cut into pieces; every thread has a run of them, the same one
// for the same number of pieces, so that it keeps touching the same part of a weight, its gradient
// and its update; who is done takes pieces of the others. A thread that has lost its core holds up
// the piece that it is in and no other. Used by DtContext (context.h), that is by generated kernels
// and library calls.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "absl/status/status.h"

namespace dtranspile::exec {

struct PoolOptions {
  int threads = 1;    // including the caller
  bool spin = false;  // wait busily for a short while before sleeping; only where there is a core
                      // for every thread
};

class ThreadPool {
 public:
  using Task = void (*)(void* arg, int64_t piece);

  // Pieces of a job are worth cutting so small that every thread gets this many of them.
  static constexpr int64_t kPiecesPerThread = 8;

  explicit ThreadPool(const PoolOptions& options);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // kResourceExhausted where the system did not grant all threads; the pool works with those that
  // there are.
  const absl::Status& status() const { return status_; }

  // That there are, including the caller.
  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Runs task(arg, p) once for every p in [0, pieces), pieces < 2^31, on whichever thread; returns
  // when all have ended. What is computed must not depend on who runs a piece. A call from within a
  // task runs its pieces one after the other on the calling thread. One caller at a time.
  void Run(int64_t pieces, Task task, void* arg);

  // The index of the calling thread, 0 outside of tasks.
  static int CurrentThread();

 private:
  // Pieces [next, end) that a thread has been given and nobody has taken: end in the upper half. On
  // a cache line of its own.
  struct alignas(64) Share {
    std::atomic<uint64_t> left{0};
  };

  void Work(int index);
  bool RunPieces(int index);
  void AwaitEpoch(uint32_t seen);
  void AwaitDone();

  const bool spin_;
  absl::Status status_;
  std::unique_ptr<Share[]> shares_;  // by thread
  std::vector<std::thread> workers_;
  // Of the job that has pieces left: written before them, so who has taken a piece may read these.
  Task task_ = nullptr;
  void* arg_ = nullptr;
  std::atomic<bool> stop_{false};
  // Futex words and the counts of their sleepers, each on a cache line of its own.
  alignas(64) std::atomic<uint32_t> epoch_{0};       // jobs so far
  alignas(64) std::atomic<uint32_t> unfinished_{0};  // pieces of the job
  alignas(64) std::atomic<uint32_t> sleeping_{0};
  alignas(64) std::atomic<uint32_t> caller_sleeps_{0};
};

// While it lives, the calling thread flushes denormals to zero (a GEMM over denormals is 250 times
// slower) and oneDNN's OpenMP team has one thread. The pool's own threads hold one for life.
class NumericScope {
 public:
  NumericScope();
  ~NumericScope();
  NumericScope(const NumericScope&) = delete;
  NumericScope& operator=(const NumericScope&) = delete;

 private:
  unsigned saved_;
};

}  // namespace dtranspile::exec
