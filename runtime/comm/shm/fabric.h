// A fabric in shared memory: others read this member's area where it lies. Used by the
// shared-memory communicator.
#pragma once

#include <memory>
#include <vector>

#include "runtime/comm/fabric.h"
#include "runtime/comm/shm/group.h"

namespace dtranspile::comm {

class ShmFabric : public Fabric {
 public:
  // `lane` is the memory of the lane, `mapping` keeps it alive where it is not that of the group;
  // `ranks` are the members.
  ShmFabric(const Group& group, const LaneLayout& layout, std::byte* lane, Mapping mapping,
            std::vector<int> ranks, int index, Patience& patience);

  int size() const override { return layout_.members; }
  int index() const override { return index_; }
  int RankOf(int member) const override { return ranks_[member]; }
  size_t inline_bytes() const override { return kInlineBytes; }
  size_t area_bytes() const override { return layout_.area_bytes; }

  absl::Status Meet(const Header& header, const std::byte* payload, size_t bytes) override;
  const Header& HeaderOf(int member) const override { return meeting(member).header; }
  const std::byte* PayloadOf(int member) const override { return meeting(member).payload; }
  absl::StatusOr<const std::vector<std::byte*>*> Reach(const std::vector<ShareId>& shares,
                                                       std::byte* own) override;
  absl::StatusOr<std::byte*> NextArea() override;
  absl::StatusOr<Posted> Post(const Message& message) override;
  absl::StatusOr<const std::byte*> Await(const Posted& posted, int member) override;
  void Finish(const Posted& posted) override;

 private:
  LaneMember& state(int member) const {
    return *reinterpret_cast<LaneMember*>(lane_ + layout_.state(member));
  }
  Meeting& meeting(int member) const {
    return *reinterpret_cast<Meeting*>(lane_ + layout_.meeting(member, meetings_ & 1));
  }
  std::byte* area(int member, uint64_t round) const {
    return lane_ + layout_.area(member, round & 1);
  }

  // Waits until `counter` of a member has reached `value`.
  absl::Status AwaitCounter(int member, const std::atomic<uint64_t>& counter, uint64_t value);
  absl::Status SleepUntil(int member, const std::atomic<uint64_t>& counter, uint64_t value);

  // Publishes a counter of this member and wakes those who sleep.
  void Publish(std::atomic<uint64_t>& counter, uint64_t value);

  const Group& group_;
  const LaneLayout layout_;
  const Mapping mapping_;
  std::byte* const lane_;
  const std::vector<int> ranks_;
  const int index_;
  Patience& patience_;
  const bool spins_;  // whether every member can have a core of its own

  // Blocks of the members that were asked for last; executors have one each.
  struct Reached {
    std::vector<ShareId> shares;
    std::vector<SharedMemory> mapped;
    std::vector<std::byte*> bases;  // empty where one could not be mapped by somebody
  };
  Reached reached_;

  int crowded_ = 0;  // waits that go to sleep at once, because others want the cores
  uint64_t meetings_ = 0;
  uint64_t round_ = 0;
  uint64_t messages_ = 0;  // posted by this member
  uint64_t last_of_round_[2] = {
      0, 0};  // number of the last message of the latest round with that parity
};

}  // namespace dtranspile::comm
