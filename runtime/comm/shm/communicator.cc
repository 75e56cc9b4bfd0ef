#include "runtime/comm/shm/communicator.h"

#include <numeric>
#include <utility>
#include <vector>

#include "runtime/comm/queue.h"
#include "runtime/comm/shm/fabric.h"

namespace dtranspile::comm {
namespace {

class ShmCommunicator : public QueuedCommunicator {
 public:
  ShmCommunicator(std::unique_ptr<Group> group, const std::string& name, int rank, int size,
                  double timeout_seconds)
      : QueuedCommunicator(name, rank, size, timeout_seconds), group_(std::move(group)) {}
  ~ShmCommunicator() override { StopLanes(); }

  const char* backend() const override { return "shm"; }

 protected:
  absl::StatusOr<std::unique_ptr<Fabric>> MakeFabric(const LaneKey& key,
                                                     Patience& patience) override {
    const GroupLayout& layout = group_->layout();
    if (key == LaneKey{}) {
      std::vector<int> ranks(size_);
      std::iota(ranks.begin(), ranks.end(), 0);
      return std::make_unique<ShmFabric>(*group_, layout.all, group_->all_lane(), Mapping(),
                                         std::move(ranks), rank_, patience);
    }
    absl::StatusOr<Mapping> mapping =
        group_->Map(layout.pair_offset(key.from, key.to), layout.pair.bytes());
    if (!mapping.ok()) return mapping.status();
    std::byte* lane = mapping->data();
    const int index = rank_ == key.from ? 0 : 1;
    return std::make_unique<ShmFabric>(*group_, layout.pair, lane, *std::move(mapping),
                                       std::vector<int>{key.from, key.to}, index, patience);
  }

  void SpreadFailure(const absl::Status& why) override { group_->Fail(std::string(why.message())); }

 private:
  std::unique_ptr<Group> group_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Communicator>> JoinShm(const Rendezvous& rendezvous,
                                                      const std::string& name, int rank, int size) {
  absl::StatusOr<std::unique_ptr<Group>> group = Group::Join(rendezvous, name, rank, size);
  if (!group.ok()) return group.status();
  return std::make_unique<ShmCommunicator>(*std::move(group), name, rank, size,
                                           rendezvous.timeout_seconds);
}

}  // namespace dtranspile::comm
