#include "runtime/comm/queue.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/comm/operation.h"

namespace dtranspile::comm {

QueuedCommunicator::QueuedCommunicator(std::string name, int rank, int size, double timeout_seconds)
    : name_(std::move(name)), rank_(rank), size_(size), timeout_seconds_(timeout_seconds) {}

// A lane is a sequence of operations that run one after the other: collectives of the group share
// one, each direction between two ranks has its own, so that a send never waits behind a collective
// that its receiver has not come to.
LaneKey QueuedCommunicator::KeyOf(const Request& request) const {
  switch (request.kind) {
    case Kind::kSend: return {rank_, request.peer};
    case Kind::kRecv: return {request.peer, rank_};
    default: return {};
  }
}

// Lanes are made when they are first used.
absl::StatusOr<QueuedCommunicator::Lane*> QueuedCommunicator::Enqueue(Request request,
                                                                      OperationPtr& operation) {
  if (absl::Status status = CheckRequest(request, rank_, size_); !status.ok()) return status;
  if (!failure_.ok()) return failure_;
  const LaneKey key = KeyOf(request);
  std::unique_ptr<Lane>& lane = lanes_[key];
  if (lane == nullptr) {
    lane = std::make_unique<Lane>(timeout_seconds_);
    lane->key = key;
  }
  operation = std::make_shared<Operation>();
  operation->request = std::move(request);
  lane->queue.push_back(operation);
  return lane.get();
}

// A thread per lane, made at the first asynchronous operation: jobs that only Run have none.
absl::StatusOr<Ticket> QueuedCommunicator::Start(Request request) {
  std::unique_lock<std::mutex> lock(mutex_);
  OperationPtr operation;
  absl::StatusOr<Lane*> lane = Enqueue(std::move(request), operation);
  if (!lane.ok()) return lane.status();
  const Ticket ticket = next_ticket_++;
  tickets_[ticket] = {*lane, operation};
  if (!(*lane)->thread.joinable()) {
    (*lane)->thread = std::thread([this, lane = *lane] { ThreadLoop(*lane); });
  } else {
    (*lane)->wake.notify_one();
  }
  return ticket;
}

// A ticket is taken out of the table before it is waited for, so that a second wait for it is an
// error and no hang.
absl::Status QueuedCommunicator::Wait(Ticket ticket) {
  Lane* lane;
  OperationPtr operation;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    const auto found = tickets_.find(ticket);
    if (found == tickets_.end()) {
      return absl::InvalidArgumentError(absl::StrCat("ticket ", ticket, " of group ", name_,
                                                     " was never given or has been waited for"));
    }
    std::tie(lane, operation) = found->second;
    tickets_.erase(found);
  }
  return Finish(*lane, operation);
}

// Run by the caller itself where the lane is free, which saves two changes of thread.
absl::Status QueuedCommunicator::Run(Request request) {
  Lane* lane;
  OperationPtr operation;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    absl::StatusOr<Lane*> found = Enqueue(std::move(request), operation);
    if (!found.ok()) return found.status();
    lane = *found;
  }
  return Finish(*lane, operation);
}

// Drives the lane until the operation is done, or lets the thread that drives it do so.
absl::Status QueuedCommunicator::Finish(Lane& lane, const OperationPtr& operation) {
  lane.patience.CallerWaits();
  {
    std::unique_lock<std::mutex> lock(mutex_);
    while (!operation->done) {
      if (lane.driven) {
        AwaitDriver(lane, lock);
      } else {
        DriveHead(lane, lock);
      }
    }
    // Operations that were started after this one are left to the lane's thread.
    if (!lane.queue.empty() && !lane.driven) {
      lane.wake.notify_one();
      lane.done.notify_all();
    }
  }
  lane.patience.CallerLeaves();
  return operation->status;
}

// The driver may have begun to wait when no caller did, with no deadline of its own; then the
// caller minds it. The grace lets a driver that minds it itself come first, with its better
// message.
void QueuedCommunicator::AwaitDriver(Lane& lane, std::unique_lock<std::mutex>& lock) {
  constexpr double kGrace = 0.2;
  const std::chrono::nanoseconds tick(
      std::min<int64_t>(50'000'000, lane.patience.timeout_ns() / 8 + 1));
  lane.done.wait_for(lock, tick);
  if (!lane.driven || !failure_.ok() || !lane.patience.Over(kGrace)) return;
  const OperationPtr operation = lane.queue.front();
  const std::string late =
      absl::StrCat("rank ", lane.patience.rank(), " has not come within ", timeout_seconds_, " s");
  Fail(absl::DeadlineExceededError(Explain(operation->request, late)), lock);
}

std::string QueuedCommunicator::Explain(const Request& request, const std::string& what) const {
  return absl::StrCat(NameOf(request.kind), " '", request.label, "' in group ", name_, ", rank ",
                      rank_, ": ", what);
}

// Runs the first operation of a lane without the lock. Exactly one thread drives a lane (`driven`);
// the connection is made at the first operation.
void QueuedCommunicator::DriveHead(Lane& lane, std::unique_lock<std::mutex>& lock) {
  const OperationPtr operation = lane.queue.front();
  lane.driven = true;
  lock.unlock();

  absl::Status status;
  Traffic traffic;
  if (lane.fabric == nullptr) {
    absl::StatusOr<std::unique_ptr<Fabric>> fabric = MakeFabric(lane.key, lane.patience);
    if (fabric.ok()) {
      lane.fabric = *std::move(fabric);
    } else {
      status = fabric.status();
    }
  }
  if (status.ok()) status = RunOperation(*lane.fabric, operation->request, traffic);
  if (!status.ok()) {
    status =
        absl::Status(status.code(), Explain(operation->request, std::string(status.message())));
  }
  sent_ += traffic.sent;
  received_ += traffic.received;

  lock.lock();
  lane.driven = false;
  if (status.ok()) {
    operation->done = true;
    lane.queue.pop_front();
  }
  // A failure elsewhere that came meanwhile has left this lane's queue to its driver.
  if (!status.ok() || !failure_.ok()) Fail(status, lock);
  lane.done.notify_all();
}

// Keeps the first failure, and ends every operation that nobody is driving.
void QueuedCommunicator::Fail(const absl::Status& status, std::unique_lock<std::mutex>& lock) {
  if (failure_.ok()) {
    failure_ = status;
    lock.unlock();
    SpreadFailure(status);
    lock.lock();
  }
  for (auto& [key, lane] : lanes_) {
    if (lane->driven) continue;  // its driver comes here on its own
    for (const OperationPtr& operation : lane->queue) {
      operation->status = failure_;
      operation->done = true;
    }
    lane->queue.clear();
    lane->done.notify_all();
  }
}

void QueuedCommunicator::Abort(const std::string& why) {
  std::unique_lock<std::mutex> lock(mutex_);
  Fail(absl::AbortedError(absl::StrCat("group ", name_, " was aborted by rank ", rank_, ": ", why)),
       lock);
}

// Drives what nobody else does.
void QueuedCommunicator::ThreadLoop(Lane& lane) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!stopping_) {
    if (lane.queue.empty() || lane.driven) {
      lane.wake.wait(lock);
    } else {
      DriveHead(lane, lock);
    }
  }
}

// Operations that were started and never waited for are ended with an error, which the other ranks
// hear of.
void QueuedCommunicator::StopLanes() {
  std::vector<std::thread> threads;
  {
    std::unique_lock<std::mutex> lock(mutex_);
    stopping_ = true;
    bool pending = false;
    for (auto& [key, lane] : lanes_) pending |= !lane->queue.empty();
    if (pending)
      Fail(absl::CancelledError(
               absl::StrCat("rank ", rank_, " closed group ", name_, " with operations pending")),
           lock);
    for (auto& [key, lane] : lanes_) {
      lane->wake.notify_all();
      if (lane->thread.joinable()) threads.push_back(std::move(lane->thread));
    }
  }
  for (std::thread& thread : threads) thread.join();
  lanes_.clear();
}

}  // namespace dtranspile::comm
