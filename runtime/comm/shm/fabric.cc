// Synchronisation is by counters that only their owner writes. A member that waits first spins (a
// peer answers within a microsecond when it is at the same point), then lets others run, then
// sleeps on its bell and looks after its peer now and then.
#include "runtime/comm/shm/fabric.h"

#include <emmintrin.h>
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/comm/shm/bell.h"

namespace dtranspile::comm {
namespace {

constexpr int kSpins = 100;  // a pause each, some 5 us
constexpr int kYields = 30;  // some 15 us where nobody else wants the core
// A yield that lasts longer has given somebody a whole time slice. Who sleeps instead is put in
// front when its bell rings, so the next waits do not yield.
constexpr int64_t kSliceNs = 100'000;
constexpr int kCrowdedWaits = 1000;
constexpr int64_t kCheckNs = 50'000'000;  // how often a sleeper looks whether its peer lives

int UsableCores() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

}  // namespace

ShmFabric::ShmFabric(const Group& group, const LaneLayout& layout, std::byte* lane, Mapping mapping,
                     std::vector<int> ranks, int index, Patience& patience)
    : group_(group),
      layout_(layout),
      mapping_(std::move(mapping)),
      lane_(lane),
      ranks_(std::move(ranks)),
      index_(index),
      patience_(patience),
      spins_(layout.members <= UsableCores()) {}

// Counters only grow, so that a value that has been seen once holds.
absl::Status ShmFabric::AwaitCounter(int member, const std::atomic<uint64_t>& counter,
                                     uint64_t value) {
  if (counter.load(std::memory_order_acquire) >= value) return absl::OkStatus();
  for (int i = 0; spins_ && i < kSpins; ++i) {
    _mm_pause();
    if (counter.load(std::memory_order_acquire) >= value) return absl::OkStatus();
  }
  if (crowded_ > 0) --crowded_;
  for (int i = 0; crowded_ == 0 && i < kYields; ++i) {
    const int64_t before_ns = NowNs();
    sched_yield();
    if (NowNs() - before_ns > kSliceNs) crowded_ = kCrowdedWaits;
    if (counter.load(std::memory_order_acquire) >= value) return absl::OkStatus();
  }
  return SleepUntil(member, counter, value);
}

// Sleeps on this member's bell until the counter gets there, and wakes up now and then to see
// whether the peer is alive and the deadline is not over.
absl::Status ShmFabric::SleepUntil(int member, const std::atomic<uint64_t>& counter,
                                   uint64_t value) {
  patience_.WaitsFor(ranks_[member]);
  const int64_t check_ns = std::min(kCheckNs, patience_.timeout_ns() / 4 + 1);
  Bell& bell = state(index_).bell;
  int64_t next_check_ns = NowNs() + check_ns;
  absl::Status status;
  bell.sleeping.store(1);
  // Sequentially consistent with Publish: either this sees the counter, or the publisher sees that
  // somebody sleeps.
  while (true) {
    const uint32_t word = bell.word.load();
    if (counter.load() >= value) break;
    const int64_t now_ns = NowNs();
    const bool thorough = now_ns >= next_check_ns;
    status = group_.Check(ranks_[member], thorough, patience_);
    if (!status.ok()) break;
    if (thorough) next_check_ns = now_ns + check_ns;
    SleepOn(bell, word, std::max<int64_t>(next_check_ns - now_ns, 1000));
  }
  bell.sleeping.store(0);
  // A peer may have done its part before it left or died.
  return counter.load() >= value ? absl::OkStatus() : status;
}

// Store first, then look who sleeps: see SleepUntil. Nobody is rung who is awake, since a system
// call costs more than the whole message.
void ShmFabric::Publish(std::atomic<uint64_t>& counter, uint64_t value) {
  counter.store(value);
  for (int member = 0; member < layout_.members; ++member) {
    if (member == index_) continue;
    Bell& bell = state(member).bell;
    if (bell.sleeping.load() != 0) Ring(bell);
  }
}

// A barrier that carries a header and a small payload of each member. Meetings use two halves of
// memory in turn.
absl::Status ShmFabric::Meet(const Header& header, const std::byte* payload, size_t bytes) {
  ++meetings_;
  // This half was last read in the meeting before last, which all have left: they came to the last
  // one.
  Meeting& mine = meeting(index_);
  mine.header = header;
  if (bytes > 0) std::memcpy(mine.payload, payload, bytes);
  Publish(state(index_).arrived, meetings_);
  for (int member = 0; member < layout_.members; ++member) {
    if (absl::Status status = AwaitCounter(member, state(member).arrived, meetings_); !status.ok())
      return status;
  }
  return absl::OkStatus();
}

// Every member maps what it can and tells the others; blocks are used when all could.
absl::StatusOr<const std::vector<std::byte*>*> ShmFabric::Reach(const std::vector<ShareId>& shares,
                                                                std::byte* own) {
  if (reached_.shares != shares) {
    reached_ = {shares, {}, {}};
    std::byte mapped{1};
    for (int member = 0; member < size(); ++member) {
      absl::StatusOr<SharedMemory> memory =
          member == index_ ? SharedMemory() : SharedMemory::Map(shares[member]);
      if (!memory.ok()) mapped = std::byte{0};
      reached_.bases.push_back(member == index_ ? own : memory.ok() ? memory->data() : nullptr);
      if (memory.ok()) reached_.mapped.push_back(*std::move(memory));
    }
    if (absl::Status status = Meet(Header(), &mapped, 1); !status.ok()) return status;
    for (int member = 0; member < size(); ++member) {
      if (*PayloadOf(member) == std::byte{0}) reached_.bases.clear();
    }
  }
  return reached_.bases.empty() ? nullptr : &reached_.bases;
}

// The area was used two rounds ago; its readers have finished when their counters have passed the
// last message of that round.
absl::StatusOr<std::byte*> ShmFabric::NextArea() {
  ++round_;
  for (int member = 0; member < layout_.members; ++member) {
    if (member == index_) continue;
    absl::Status status = AwaitCounter(member, state(member).finished, last_of_round_[round_ & 1]);
    if (!status.ok()) return status;
  }
  return index_ < layout_.senders ? area(index_, round_) : nullptr;
}

absl::StatusOr<Posted> ShmFabric::Post(const Message& message) {
  ++messages_;
  last_of_round_[round_ & 1] = messages_;
  Publish(state(index_).posted, messages_);
  return Posted{message, messages_, round_};
}

absl::StatusOr<const std::byte*> ShmFabric::Await(const Posted& posted, int member) {
  if (absl::Status status = AwaitCounter(member, state(member).posted, posted.number); !status.ok())
    return status;
  return area(member, posted.round) +
         posted.message.stride * SlotFor(posted.message, member, index_);
}

void ShmFabric::Finish(const Posted& posted) { Publish(state(index_).finished, posted.number); }

}  // namespace dtranspile::comm
