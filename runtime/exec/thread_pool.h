// The threads of one rank. Part p of a job runs on thread p always (part 0 on the caller), so that
// one thread keeps touching the same part of a weight, its gradient and its update. Used by
// DtContext (context.h), that is by generated kernels and library calls.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace dtranspile::exec {

struct PoolOptions {
  int threads = 1;    // including the caller
  bool spin = false;  // wait busily for a while before sleeping; only where every thread has a core
                      // of its own
  std::vector<int> cpus;  // thread i is pinned to cpus[i]; empty: not pinned
};

class ThreadPool {
 public:
  using Task = void (*)(void* arg, int part);

  explicit ThreadPool(const PoolOptions& options);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return options_.threads; }

  // Runs task(arg, p) for p in [0, parts), parts <= threads(); returns when all have ended. A call
  // from within a task runs its parts one after the other on the calling thread. One caller at a
  // time.
  void Run(int parts, Task task, void* arg);

  // The index of the calling thread, 0 outside of tasks.
  static int CurrentThread();

 private:
  void Work(int index);
  void AwaitEpoch(uint32_t seen);
  void AwaitDone();

  const PoolOptions options_;
  std::vector<std::thread> workers_;
  Task task_ = nullptr;
  void* arg_ = nullptr;
  int parts_ = 0;
  bool stop_ = false;
  // Futex words and the counts of their sleepers, each on a cache line of its own.
  alignas(64) std::atomic<uint32_t> epoch_{0};
  alignas(64) std::atomic<uint32_t> pending_{0};
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
