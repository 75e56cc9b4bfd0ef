// How long an operation may stand still: while a caller waits, `timeout` from the later of the
// begin of its wait and the last step forward; while nobody waits, for ever (the caller may be
// computing). Shared between the queue and the fabrics.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

namespace dtranspile::comm {

// Steady clock, nanoseconds, never 0.
inline int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
             .count() +
         1;
}

class Patience {
 public:
  explicit Patience(double timeout_seconds)
      : timeout_ns_(static_cast<int64_t>(timeout_seconds * 1e9)) {}

  void CallerWaits() {
    if (callers_.fetch_add(1) == 0) since_.store(NowNs());
  }
  void CallerLeaves() {
    if (callers_.fetch_sub(1) == 1) since_.store(0);
  }

  // The driver begins to wait for something of `rank`.
  void WaitsFor(int rank) {
    rank_.store(rank, std::memory_order_relaxed);
    step_ns_.store(NowNs(), std::memory_order_relaxed);
  }
  int rank() const { return rank_.load(std::memory_order_relaxed); }

  // Whether the standstill has lasted too long, by more than `grace` of the timeout.
  bool Over(double grace = 0) const {
    const int64_t since = since_.load(std::memory_order_relaxed);
    const int64_t limit =
        timeout_ns_ + static_cast<int64_t>(static_cast<double>(timeout_ns_) * grace);
    return since != 0 &&
           NowNs() - std::max(since, step_ns_.load(std::memory_order_relaxed)) > limit;
  }

  bool caller_waits() const { return callers_.load() > 0; }
  int64_t timeout_ns() const { return timeout_ns_; }
  double timeout_seconds() const { return static_cast<double>(timeout_ns_) * 1e-9; }

 private:
  const int64_t timeout_ns_;
  std::atomic<int> callers_{0};
  std::atomic<int64_t> since_{0};    // begin of the first wait of a caller, 0 for none
  std::atomic<int64_t> step_ns_{0};  // begin of the driver's present wait
  std::atomic<int> rank_{-1};
};

}  // namespace dtranspile::comm
