#include "runtime/exec/thread_pool.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <system_error>

#include "absl/strings/str_cat.h"

// Of libgomp, which oneDNN is built for; its header is the compiler's and need not be there.
extern "C" void omp_set_num_threads(int);

namespace dtranspile::exec {
namespace {

using Clock = std::chrono::steady_clock;

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

void FutexWake(std::atomic<uint32_t>& word, int64_t sleepers) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), FUTEX_WAKE_PRIVATE,
          static_cast<int>(std::min<int64_t>(sleepers, INT_MAX)), nullptr, nullptr, 0);
}

// Spins until `done` holds or the time is over.
template <typename Done>
bool SpinUntil(Done done) {
  const auto end = Clock::now() + kSpinTime;
  do {
    for (int i = 0; i < kPausesPerLookAtTheClock; ++i) {
      if (done()) return true;
      _mm_pause();
    }
  } while (Clock::now() < end);
  return done();
}

constexpr int kHalf = 32;

uint64_t Pieces(int64_t next, int64_t end) {
  return static_cast<uint64_t>(end) << kHalf | static_cast<uint64_t>(next);
}

// The next piece of a share; -1 where none is left.
int64_t Take(std::atomic<uint64_t>& left) {
  uint64_t pieces = left.load(std::memory_order_acquire);
  do {
    if (static_cast<uint32_t>(pieces) >= pieces >> kHalf) return -1;
  } while (!left.compare_exchange_weak(pieces, pieces + 1, std::memory_order_acquire));
  return static_cast<uint32_t>(pieces);
}

}  // namespace

NumericScope::NumericScope() : saved_(_mm_getcsr()) {
  _mm_setcsr(saved_ | kFlushToZero | kDenormalsAreZero);
  omp_set_num_threads(1);
}

NumericScope::~NumericScope() { _mm_setcsr(saved_); }

ThreadPool::ThreadPool(const PoolOptions& options)
    : spin_(options.spin),
      shares_(std::make_unique<Share[]>(static_cast<size_t>(std::max(options.threads, 1)))) {
  workers_.reserve(static_cast<size_t>(std::max(options.threads, 1)));
  for (int i = 1; i < options.threads && status_.ok(); ++i) try {
      workers_.emplace_back([this, i] { Work(i); });
    } catch (const std::system_error& error) {
      status_ = absl::ResourceExhaustedError(
          absl::StrCat("the system grants ", i, " of the ", options.threads,
                       " threads that are asked for (", error.what(), "); ask for fewer"));
    }
}

ThreadPool::~ThreadPool() {
  stop_.store(true);
  epoch_.fetch_add(1);
  FutexWake(epoch_, INT_MAX);
  for (std::thread& worker : workers_) worker.join();
}

int ThreadPool::CurrentThread() { return current_thread; }

// Deals the pieces out in equal ranges, one per thread; a thread that is done takes from the others
// (RunPieces). Loops inside of a task run on the thread they are in. Everything the workers read is
// written before the epoch changes, which is what they wait for. The caller works too, and then
// waits for the last piece.
void ThreadPool::Run(int64_t pieces, Task task, void* arg) {
  if (pieces <= 1 || workers_.empty() || inside_task) {
    for (int64_t piece = 0; piece < pieces; ++piece) task(arg, piece);
    return;
  }
  task_ = task;
  arg_ = arg;
  unfinished_.store(static_cast<uint32_t>(pieces));
  const int64_t count = threads();
  for (int64_t i = 0; i < count; ++i)
    shares_[static_cast<size_t>(i)].left.store(Pieces(pieces * i / count, pieces * (i + 1) / count),
                                               std::memory_order_release);
  epoch_.fetch_add(1);
  if (sleeping_.load() > 0) FutexWake(epoch_, pieces - 1);
  inside_task = true;
  const bool last = RunPieces(0);
  inside_task = false;
  if (!last) AwaitDone();
}

// Own pieces first, then those of the threads after it, round to the one before. Whoever has a
// piece keeps the job alive, so all pieces that are taken here are of one job; a thread that comes
// late finds none, or those of the next job. True if this ended the job.
bool ThreadPool::RunPieces(int index) {
  uint32_t ran = 0;
  const int count = threads();
  for (int i = 0; i < count; ++i) {
    std::atomic<uint64_t>& left = shares_[static_cast<size_t>((index + i) % count)].left;
    for (int64_t piece = Take(left); piece >= 0; piece = Take(left), ++ran) task_(arg_, piece);
  }
  return ran > 0 && unfinished_.fetch_sub(ran) == ran;
}

void ThreadPool::AwaitDone() {
  auto done = [this] { return unfinished_.load(std::memory_order_acquire) == 0; };
  if (done() || (spin_ && SpinUntil(done))) return;
  caller_sleeps_.store(1);
  for (uint32_t left = unfinished_.load(); left != 0; left = unfinished_.load())
    FutexWait(unfinished_, left);
  caller_sleeps_.store(0);
}

void ThreadPool::AwaitEpoch(uint32_t seen) {
  auto changed = [&] { return epoch_.load(std::memory_order_acquire) != seen; };
  if (changed() || (spin_ && SpinUntil(changed))) return;
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
    if (stop_.load()) return;
    if (RunPieces(index) && caller_sleeps_.load() != 0) FutexWake(unfinished_, 1);
  }
}

}  // namespace dtranspile::exec
