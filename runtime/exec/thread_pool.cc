#include "runtime/exec/thread_pool.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <chrono>

// Of libgomp, which oneDNN is built for; its header is the compiler's and need not be there.
extern "C" void omp_set_num_threads(int);

namespace dtranspile::exec {
namespace {

constexpr unsigned kFlushToZero = 0x8000;
constexpr unsigned kDenormalsAreZero = 0x0040;
// Waking a sleeper costs some 50 us on virtual machines; spinning for a few times that pays for
// itself.
constexpr std::chrono::microseconds kSpinTime{200};
constexpr int kPausesPerLookAtTheClock = 64;

thread_local int current_thread = 0;
thread_local bool inside_task = false;

void FutexWait(std::atomic<uint32_t>& word, uint32_t seen) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr,
          0);
}

void FutexWakeAll(std::atomic<uint32_t>& word) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr,
          nullptr, 0);
}

// Spins until `done` holds or the time is over.
template <typename Done>
bool SpinUntil(Done done) {
  const auto end = std::chrono::steady_clock::now() + kSpinTime;
  do {
    for (int i = 0; i < kPausesPerLookAtTheClock; ++i) {
      if (done()) return true;
      _mm_pause();
    }
  } while (std::chrono::steady_clock::now() < end);
  return done();
}

void Pin(pthread_t thread, int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (cpu < 0 || cpu >= CPU_SETSIZE) return;
  CPU_SET(cpu, &set);
  // A cpu that a container does not grant is no reason to fail: the thread then runs where it may.
  pthread_setaffinity_np(thread, sizeof(set), &set);
}

}  // namespace

NumericScope::NumericScope() : saved_(_mm_getcsr()) {
  _mm_setcsr(saved_ | kFlushToZero | kDenormalsAreZero);
  omp_set_num_threads(1);
}

NumericScope::~NumericScope() { _mm_setcsr(saved_); }

ThreadPool::ThreadPool(const PoolOptions& options) : options_(options) {
  for (int i = 1; i < options_.threads; ++i) workers_.emplace_back([this, i] { Work(i); });
  if (options_.cpus.empty()) return;
  Pin(pthread_self(), options_.cpus[0]);
  for (size_t i = 1; i < options_.cpus.size() && i <= workers_.size(); ++i)
    Pin(workers_[i - 1].native_handle(), options_.cpus[i]);
}

ThreadPool::~ThreadPool() {
  stop_ = true;
  epoch_.fetch_add(1);
  FutexWakeAll(epoch_);
  for (std::thread& worker : workers_) worker.join();
}

int ThreadPool::CurrentThread() { return current_thread; }

void ThreadPool::Run(int parts, Task task, void* arg) {
  if (parts <= 1 || workers_.empty() || inside_task) {
    for (int part = 0; part < parts; ++part) task(arg, part);
    return;
  }
  task_ = task;
  arg_ = arg;
  parts_ = parts;
  pending_.store(static_cast<uint32_t>(workers_.size()));
  epoch_.fetch_add(1);
  if (sleeping_.load() > 0) FutexWakeAll(epoch_);
  inside_task = true;
  task(arg, 0);
  inside_task = false;
  AwaitDone();
}

void ThreadPool::AwaitDone() {
  auto done = [this] { return pending_.load(std::memory_order_acquire) == 0; };
  if (done() || (options_.spin && SpinUntil(done))) return;
  caller_sleeps_.store(1);
  for (uint32_t left = pending_.load(); left != 0; left = pending_.load())
    FutexWait(pending_, left);
  caller_sleeps_.store(0);
}

void ThreadPool::AwaitEpoch(uint32_t seen) {
  auto changed = [&] { return epoch_.load(std::memory_order_acquire) != seen; };
  if (options_.spin && SpinUntil(changed)) return;
  sleeping_.fetch_add(1);
  while (!changed()) FutexWait(epoch_, seen);
  sleeping_.fetch_sub(1);
}

void ThreadPool::Work(int index) {
  NumericScope numerics;
  current_thread = index;
  inside_task = true;
  for (uint32_t seen = 0;;) {
    AwaitEpoch(seen);
    seen = epoch_.load(std::memory_order_acquire);
    if (stop_) return;
    if (index < parts_) task_(arg_, index);
    // The caller leaves Run, and may write the fields above again, only after every thread has come
    // through here.
    if (pending_.fetch_sub(1) == 1 && caller_sleeps_.load() != 0) FutexWakeAll(pending_);
  }
}

}  // namespace dtranspile::exec
