// The part of a communicator that back ends share: tickets, order, threads, failure. Back ends
// (shm/, gloo/) derive from it and give it a fabric per lane.
//
// A lane is a first-in-first-out queue with its own fabric: one for collectives, one for each
// ordered pair that sends. A lane is driven by one thread at a time: by the caller that waits for
// it if nobody drives it yet (no hop to another thread), else by the lane's own thread, which is
// started with the first Start on the lane.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

#include "runtime/comm/collectives.h"
#include "runtime/comm/communicator.h"
#include "runtime/comm/fabric.h"
#include "runtime/comm/patience.h"

namespace dtranspile::comm {

// -1, -1: the collective lane; else the ordered pair.
struct LaneKey {
  int from = -1;
  int to = -1;
  auto operator<=>(const LaneKey&) const = default;
};

class QueuedCommunicator : public Communicator {
 public:
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  absl::StatusOr<Ticket> Start(Request request) override;
  absl::Status Wait(Ticket ticket) override;
  absl::Status Run(Request request) override;
  int64_t bytes_sent() const override { return sent_.load(); }
  int64_t bytes_received() const override { return received_.load(); }
  void Abort(const std::string& why) override;

 protected:
  QueuedCommunicator(std::string name, int rank, int size, double timeout_seconds);

  // The fabric of a lane, made when the lane is used first; called by the lane's driver without
  // locks held.
  virtual absl::StatusOr<std::unique_ptr<Fabric>> MakeFabric(const LaneKey& key,
                                                             Patience& patience) = 0;

  // Called once, with the first failure: makes local waits end soon and tells the peers. `why` is
  // complete.
  virtual void SpreadFailure(const absl::Status& why) = 0;

  // Ends all threads; back ends call it first in their destructors, before what fabrics use goes
  // away.
  void StopLanes();

  const std::string name_;
  const int rank_, size_;
  const double timeout_seconds_;

 private:
  struct Operation {
    Request request;
    absl::Status status;
    bool done = false;
  };
  using OperationPtr = std::shared_ptr<Operation>;

  struct Lane {
    explicit Lane(double timeout_seconds) : patience(timeout_seconds) {}
    LaneKey key;
    Patience patience;
    std::deque<OperationPtr> queue;  // head: the one being driven
    bool driven = false;
    std::unique_ptr<Fabric> fabric;  // touched by the driver only
    std::condition_variable wake;    // of the lane's thread
    std::condition_variable done;    // of callers
    std::thread thread;
  };

  absl::StatusOr<Lane*> Enqueue(Request request, OperationPtr& operation);
  LaneKey KeyOf(const Request& request) const;
  absl::Status Finish(Lane& lane, const OperationPtr& operation);
  void AwaitDriver(Lane& lane, std::unique_lock<std::mutex>& lock);
  std::string Explain(const Request& request, const std::string& what) const;
  void DriveHead(Lane& lane, std::unique_lock<std::mutex>& lock);
  void Fail(const absl::Status& status, std::unique_lock<std::mutex>& lock);
  void ThreadLoop(Lane& lane);

  std::mutex mutex_;
  std::map<LaneKey, std::unique_ptr<Lane>> lanes_;
  std::unordered_map<Ticket, std::pair<Lane*, OperationPtr>> tickets_;
  Ticket next_ticket_ = 1;
  absl::Status failure_;  // the first one; the communicator is dead after it
  bool stopping_ = false;
  std::atomic<int64_t> sent_{0}, received_{0};
};

}  // namespace dtranspile::comm
