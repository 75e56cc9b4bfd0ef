// What lies in the shared-memory file of a group:
//
//     GroupControl   who the ranks are, and the first failure
//     lane of all ranks
//     lane of the ordered pair 0→1, 0→2, …        sparse: memory is taken when a pair is used first
//
// A lane is Meeting[n][2], LaneMember[n], then two areas for each member that sends in rounds. All
// of it is plain memory that starts as zeros; counters only grow. Written by join (group.cc) and
// the fabric.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/comm/operation.h"
#include "runtime/comm/shm/process.h"

namespace dtranspile::comm {

inline constexpr size_t kPage = 4096;
inline constexpr size_t kInlineBytes = 4096;  // payload that travels with a header
inline constexpr int kMaxShmRanks = 512;

// A word to sleep on. `sleeping` tells whether a wake-up call is needed at all.
struct alignas(64) Bell {
  std::atomic<uint32_t> word;
  std::atomic<uint32_t> sleeping;
};

enum RankState : uint32_t { kAbsent = 0, kClaimed = 1, kJoined = 2, kLeft = 3 };

struct RankRecord {
  std::atomic<uint32_t> state;
  ProcessId process;
};

enum FailureState : uint32_t { kNoFailure = 0, kWritingFailure = 1, kFailed = 2 };

struct GroupControl {
  static constexpr uint64_t kMagic = 0x3130'6d68'7374'64ull;  // "dtshm01"
  uint64_t magic;
  int32_t size;
  int32_t reserved;
  ProcessId creator;
  std::atomic<uint32_t> joined;
  std::atomic<uint32_t> failure_state;
  char failure[2048];  // zero-terminated
  RankRecord ranks[kMaxShmRanks];
};

struct alignas(64) LaneMember {
  alignas(64) std::atomic<uint64_t> arrived;   // meetings shown up to
  alignas(64) std::atomic<uint64_t> posted;    // messages posted
  alignas(64) std::atomic<uint64_t> finished;  // messages read to the end
  Bell bell;
};

struct alignas(64) Meeting {
  Header header;
  alignas(64) std::byte payload[kInlineBytes];
};

// Offsets within a lane.
struct LaneLayout {
  int members;
  int senders;  // members 0 … senders - 1 have areas
  size_t area_bytes;

  static size_t Align(size_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }
  size_t meeting(int member, uint64_t parity) const {
    return (2 * member + parity) * sizeof(Meeting);
  }
  size_t state(int member) const {
    return 2 * members * sizeof(Meeting) + member * sizeof(LaneMember);
  }
  size_t area(int member, uint64_t parity) const {
    return Align(state(members)) + (2 * member + parity) * area_bytes;
  }
  size_t bytes() const { return Align(area(senders, 0)); }
};

// Offsets within the file.
struct GroupLayout {
  explicit GroupLayout(int size);

  const int size;
  LaneLayout all;
  LaneLayout pair;

  size_t all_offset() const { return LaneLayout::Align(sizeof(GroupControl)); }
  size_t reserved_bytes() const {
    return all_offset() + all.bytes();
  }  // memory that every group takes
  size_t pair_offset(int from, int to) const {
    return reserved_bytes() + (static_cast<size_t>(from) * size + to) * pair.bytes();
  }
  size_t file_bytes() const { return pair_offset(size, 0); }
};

}  // namespace dtranspile::comm
