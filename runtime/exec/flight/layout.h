// The memory that a recorder shares with the launcher: a header, the number of started operations
// per channel, the ring of events, and the texts as JSON. Both sides are of one build; the version
// tells a foreign file.
#pragma once

#include <atomic>
#include <cstdint>

#include "runtime/exec/flight/clock.h"
#include "runtime/exec/flight/recording.h"

namespace dtranspile::flight {

constexpr uint64_t kMagic = 0x32544847494C4644;  // "DFLIGHT2", as bytes on a little-endian machine

struct MemoryHeader {
  std::atomic<uint64_t> magic;  // set last
  uint64_t capacity;            // events of the ring
  uint64_t channels;
  uint64_t text_bytes;
  std::atomic<uint64_t> begun;  // events so far
  ClockPair first;              // before all events
};

constexpr size_t kLine = 64;  // of the cache

// One line. An event is whole where `written` is its number plus one. Times are of the
// recorder's clock.
struct MemoryEvent {
  std::atomic<uint64_t> written;
  uint64_t sequence;
  int64_t step, begin, wait, end;
  uint32_t op, channel;
  uint64_t unused;
};
static_assert(sizeof(MemoryEvent) == kLine);

struct MemoryLayout {
  size_t started, ring, text, bytes;

  static MemoryLayout Of(uint64_t capacity, uint64_t channels, uint64_t text_bytes) {
    MemoryLayout at;
    at.started = sizeof(MemoryHeader);
    const size_t counted = at.started + channels * sizeof(std::atomic<uint64_t>);
    at.ring = (counted + kLine - 1) / kLine * kLine;
    at.text = at.ring + capacity * sizeof(MemoryEvent);
    at.bytes = at.text + text_bytes;
    return at;
  }
};

// What such memory may have: more is no recorder's.
constexpr uint64_t kMostEvents = 1 << 20, kMostChannels = 1 << 20, kMostText = 1 << 28;

}  // namespace dtranspile::flight
