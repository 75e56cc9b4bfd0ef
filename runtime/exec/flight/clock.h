// The clock of recorders: ticks of the processor where they have one rate on all cores, whatever a
// core's frequency is or how deep it sleeps ("invariant TSC"), else nanoseconds of the steady
// clock. A read of it costs a third of one of the steady clock. The reader makes nanoseconds of
// ticks: it takes a pair of both clocks, and has the pair from when the recorder began.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#ifdef __x86_64__
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace dtranspile::flight {

inline int64_t SteadyNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

class Clock {
 public:
  Clock() {
#ifdef __x86_64__
    constexpr unsigned kPowerLeaf = 0x80000007, kInvariant = 1u << 8;
    unsigned a = 0, b = 0, c = 0, d = 0;
    ticks_ = __get_cpuid(kPowerLeaf, &a, &b, &c, &d) != 0 && (d & kInvariant) != 0;
#endif
  }

  // Never 0, which says of an event that it has not come to that.
  int64_t Now() const {
#ifdef __x86_64__
    if (ticks_) return static_cast<int64_t>(__rdtsc());
#endif
    return SteadyNs();
  }

 private:
#ifdef __x86_64__
  bool ticks_ = false;
#endif
};

// The same instant on both clocks.
struct ClockPair {
  int64_t ticks = 0, ns = 0;
};

inline ClockPair PairOf(const Clock& clock) { return {clock.Now(), SteadyNs()}; }

// What lies between two pairs, by the rate between them. 0 stays 0.
inline int64_t NsOf(int64_t ticks, const ClockPair& first, const ClockPair& last) {
  if (ticks == 0) return 0;
  if (last.ticks <= first.ticks) return first.ns;
  const auto since = [&](long double tick) { return tick - static_cast<long double>(first.ticks); };
  const long double share = std::clamp(
      since(static_cast<long double>(ticks)) / since(static_cast<long double>(last.ticks)), 0.0L,
      1.0L);
  return static_cast<int64_t>(static_cast<long double>(first.ns) * (1 - share) +
                              static_cast<long double>(last.ns) * share);
}

}  // namespace dtranspile::flight
