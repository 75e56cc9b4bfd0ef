#include "runtime/ps/communicator.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/comm/patience.h"
#include "runtime/ps/merge_gradients.h"

namespace dtranspile::ps {
namespace {

using comm::NowNs;
using Lock = std::unique_lock<std::mutex>;

// A request that outlives the one it is made of, with the layout at `layout`.
exec::TableRequest KeptAs(const exec::TableRequest& request, std::optional<exec::Layout>& layout) {
  exec::TableRequest kept = request;
  if (request.layout != nullptr) kept.layout = &layout.emplace(*request.layout);
  return kept;
}

}  // namespace

Communicator::Communicator(std::unique_ptr<exec::ServerLink> link) : link_(std::move(link)) {}

Communicator::~Communicator() { Stop(); }

// What has not been sent by now never is.
void Communicator::Stop() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  for (std::thread& one : senders_) one.join();
  senders_.clear();
  if (receiver_) receiver_->join();
  receiver_.reset();
}

// Threads are started only where the settings need them: merged or concurrent sends, or pulls that
// do not wait. Otherwise the step's own thread sends and receives.
absl::Status Communicator::Configure(const exec::Sending& sending) {
  sending_ = sending;
  if (sending.max_merge_var_num > sending.send_queue_size)
    return absl::InvalidArgumentError(absl::StrCat(
        "max_merge_var_num ", sending.max_merge_var_num, " and send_queue_size ",
        sending.send_queue_size, ": a queue never holds as many gradients as are to be merged"));
  const bool receives = sending.independent_recv_thread != 0;
  if (sending.max_merge_var_num > 1 || receives || sending.thread_pool_size > 1)
    for (int64_t i = 0; i < sending.thread_pool_size; ++i)
      senders_.emplace_back([this] { SendLoop(); });
  if (receives) receiver_.emplace([this] { ReceiveLoop(); });
  return absl::OkStatus();
}

void Communicator::Note(const absl::Status& status) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (status_.ok()) status_ = status;
  changed_.notify_all();
}

Communicator::Queue& Communicator::QueueOf(const exec::TableRequest& request) {
  const auto [found, added] = queues_.try_emplace(request.table);
  Queue& queue = found->second;
  if (added) queue.request = KeptAs(request, queue.layout);
  return queue;
}

// A trainer that has its first values from elsewhere pulls nothing before it pushes: what the
// servers have at first is what its first steps go on with.
absl::Status Communicator::KnowFirst(const exec::TableRequest& request, DType dtype,
                                     const std::vector<int64_t>& dims) {
  if (!keeps_pulled() || request.at_once) return absl::OkStatus();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (received_.count(request.table) + looked_up_.count(request.table) > 0)
      return absl::OkStatus();
  }
  exec::Value room(exec::Value::Kind::kTensor, dtype);
  DT_RETURN_IF_ERROR(room.Resize(dims));
  return Receive(request, {dtype, room.dims, room.data()});
}

absl::Status Communicator::Push(const exec::TableRequest& request, exec::Merge merge,
                                const TensorView& value) {
  DT_RETURN_IF_ERROR(KnowFirst(request, value.dtype, value.dims));
  const bool waits = has_senders() && !request.at_once;
  return waits ? Enqueue(request, How::kDense, merge, value, nullptr)
               : PushNow(request, How::kDense, merge, value, nullptr);
}

absl::Status Communicator::PushRows(const exec::TableRequest& request, exec::Merge merge,
                                    const exec::Value& value) {
  std::vector<int64_t> whole = value.dims;
  if (!whole.empty()) whole[0] = value.height;
  DT_RETURN_IF_ERROR(KnowFirst(request, value.dtype, whole));
  const bool waits = has_senders() && !request.at_once;
  return waits ? Enqueue(request, How::kRows, merge, value.view(), &value)
               : PushNow(request, How::kRows, merge, value.view(), &value);
}

absl::Status Communicator::PushChanged(const exec::TableRequest& request, exec::Merge merge,
                                       const TensorView& value) {
  return has_senders() ? Enqueue(request, How::kChanged, merge, value, nullptr)
                       : PushNow(request, How::kChanged, merge, value, nullptr);
}

// All that has been sent is applied.
absl::Status Communicator::Settle(const std::string& op) {
  const std::lock_guard<std::mutex> asking(asking_);
  DT_RETURN_IF_ERROR(link_->EndPhase(op, exec::Phase::kPush));
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto& [unused, queue] : queues_) queue.flying = 0;
  return absl::OkStatus();
}

// On the program's thread. Of one variable no more gradients are under way than the queue would
// hold: at that many all of them are waited for.
absl::Status Communicator::PushNow(const exec::TableRequest& request, How how, exec::Merge merge,
                                   const TensorView& view, const exec::Value* rows) {
  Queue* queue = nullptr;
  bool full = false;
  if (!request.at_once) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!status_.ok()) return status_;
    queue = &QueueOf(request);
    full = queue->held() >= sending_.send_queue_size;
    decided_ = false;
    ++pushed_;
  }
  if (full) DT_RETURN_IF_ERROR(Settle(request.op));
  const std::lock_guard<std::mutex> asking(asking_);
  if (queue != nullptr) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++queue->flying;
  }
  switch (how) {
    case How::kDense: return link_->Push(request, merge, view);
    case How::kRows: return link_->PushRows(request, merge, *rows);
    case How::kChanged: return link_->PushChanged(request, merge, view);
  }
  return absl::OkStatus();
}

// A full queue empties: what is under way is waited for here; without that it has as many gradients
// as are merged, so that a sender takes some of them, or is about to be done with those that it
// has.
absl::Status Communicator::Enqueue(const exec::TableRequest& request, How how, exec::Merge merge,
                                   const TensorView& view, const exec::Value* rows) {
  Gradient gradient{how, merge, {}, 0};
  if (rows != nullptr) DT_RETURN_IF_ERROR(gradient.value.Assign(*rows));
  else DT_RETURN_IF_ERROR(gradient.value.Assign(view));
  Lock lock(mutex_);
  Queue& queue = QueueOf(request);
  while (status_.ok() && queue.held() >= sending_.send_queue_size) {
    if (queue.flying == 0) {
      changed_.wait(lock);
      continue;
    }
    lock.unlock();
    DT_RETURN_IF_ERROR(Settle(request.op));
    lock.lock();
  }
  if (!status_.ok()) return status_;
  gradient.came_ns = NowNs();
  queue.waiting.push_back(std::move(gradient));
  ++pushed_;
  decided_ = false;
  changed_.notify_all();
  return absl::OkStatus();
}

// The queue whose oldest gradient has waited longest, of those that are to be sent: there are
// enough of them, somebody waits for them, or no more came for so long. `wake_ns`: when the next
// one will be.
Communicator::Queue* Communicator::Ripe(int64_t now_ns, int64_t& wake_ns) {
  constexpr int64_t kWaitNs = 10'000'000;
  Queue* found = nullptr;
  for (auto& [unused, queue] : queues_) {
    if (queue.sending > 0 || queue.waiting.empty()) continue;
    const int64_t ripe_ns = queue.waiting.back().came_ns + sending_.send_wait_times * kWaitNs;
    const auto count = static_cast<int64_t>(queue.waiting.size());
    if (count < sending_.max_merge_var_num && flushing_ == 0 && now_ns < ripe_ns)
      wake_ns = std::min(wake_ns, ripe_ns);
    else if (found == nullptr || queue.waiting.front().came_ns < found->waiting.front().came_ns)
      found = &queue;
  }
  return found;
}

// A sending thread. A queue is ripe when it holds as many gradients as are to be merged, or has
// waited long enough (Ripe, which also says when to look again). Only neighbours of one kind become
// one push, so that the order of gradients stays. The lock is given up while they are merged and
// sent, and `sending` counts what is under way meanwhile.
void Communicator::SendLoop() {
  Lock lock(mutex_);
  while (!stopping_ && status_.ok()) {
    const int64_t now_ns = NowNs();
    int64_t wake_ns = std::numeric_limits<int64_t>::max();
    Queue* const queue = Ripe(now_ns, wake_ns);
    if (queue == nullptr) {
      if (wake_ns == std::numeric_limits<int64_t>::max()) changed_.wait(lock);
      else changed_.wait_for(lock, std::chrono::nanoseconds(wake_ns - now_ns));
      continue;
    }
    // Neighbours of one kind; a change goes by itself.
    std::vector<Gradient> taken;
    const How how = queue->waiting.front().how;
    const int64_t most = how == How::kChanged ? 1 : sending_.max_merge_var_num;
    const exec::Merge merge = queue->waiting.front().merge;
    while (!queue->waiting.empty() && queue->waiting.front().how == how &&
           queue->waiting.front().merge == merge && static_cast<int64_t>(taken.size()) < most) {
      taken.push_back(std::move(queue->waiting.front()));
      queue->waiting.pop_front();
    }
    queue->sending = static_cast<int64_t>(taken.size());
    lock.unlock();
    const absl::Status status = Send(*queue, taken);
    lock.lock();
    if (!status.ok() && status_.ok()) status_ = status;
    changed_.notify_all();
  }
}

// Merges and pushes. `asking_` serialises requests on the link, and is always taken before
// `mutex_`.
absl::Status Communicator::Send(Queue& queue, std::vector<Gradient>& gradients) {
  const How how = gradients.front().how;
  const exec::Merge merge = gradients.front().merge;
  const auto count = static_cast<int64_t>(gradients.size());
  std::vector<const exec::Value*> values;
  for (const Gradient& one : gradients) values.push_back(&one.value);
  DT_ASSIGN_OR_RETURN(const exec::Value value,
                      count == 1
                          ? std::move(gradients.front().value)
                          : MergeGradients(queue.request.table, values, sending_.average != 0));
  const std::lock_guard<std::mutex> asking(asking_);
  if (how == How::kRows) DT_RETURN_IF_ERROR(link_->PushRows(queue.request, merge, value));
  if (how == How::kDense) DT_RETURN_IF_ERROR(link_->Push(queue.request, merge, value.view()));
  if (how == How::kChanged)
    DT_RETURN_IF_ERROR(link_->PushChanged(queue.request, merge, value.view()));
  const std::lock_guard<std::mutex> lock(mutex_);
  queue.sending = 0;
  queue.flying += count;
  sent_ += count;
  return absl::OkStatus();
}

// All that the program has pushed is sent, without waiting for more.
absl::Status Communicator::Flush() {
  Lock lock(mutex_);
  if (!has_senders()) return status_;
  ++flushing_;
  changed_.notify_all();
  changed_.wait(lock, [&] {
    return !status_.ok() || std::all_of(queues_.begin(), queues_.end(), [](const auto& one) {
      return one.second.waiting.empty() && one.second.sending == 0;
    });
  });
  --flushing_;
  return status_;
}

// Decided once for all pulls between two pushes: a step has all its parameters of one time.
bool Communicator::IsDue() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (decided_) return due_;
  decided_ = true;
  due_ = sending_.independent_recv_thread == 0 && pushed_ >= sending_.min_send_grad_num_before_recv;
  if (due_) pushed_ = 0;
  return due_;
}

// Where the receiving thread keeps what was pulled last, or not enough has been sent since, the
// step gets that copy and waits for nobody. Otherwise gradients that wait are sent first, so that
// the answer has them.
absl::Status Communicator::Pull(const exec::TableRequest& request, const exec::TensorRoom& to) {
  std::shared_ptr<const exec::Value> last;
  const bool due = IsDue();
  if (keeps_pulled()) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!status_.ok()) return status_;
    const auto found = received_.find(request.table);
    if (found != received_.end()) last = found->second.value;
  }
  if (last != nullptr && !due) {
    if (last->dtype != to.dtype || last->dims != to.dims)
      return absl::InvalidArgumentError(
          absl::StrCat("table '", request.table, "' is pulled into different extents"));
    if (last->bytes() > 0) std::memcpy(to.data, last->data(), static_cast<size_t>(last->bytes()));
    return absl::OkStatus();
  }
  DT_RETURN_IF_ERROR(Flush());
  return Receive(request, to);
}

// Asks the servers, and keeps the answer where a later pull may take it.
absl::Status Communicator::Receive(const exec::TableRequest& request, const exec::TensorRoom& to) {
  const std::lock_guard<std::mutex> asking(asking_);
  DT_RETURN_IF_ERROR(link_->Pull(request, to));
  const std::lock_guard<std::mutex> lock(mutex_);
  // A pull sees all pushes of its table before it.
  if (const auto queue = queues_.find(request.table); queue != queues_.end())
    queue->second.flying = 0;
  if (!keeps_pulled()) return absl::OkStatus();
  auto value = std::make_shared<exec::Value>();
  DT_RETURN_IF_ERROR(value->Assign(TensorView{to.dtype, to.dims, to.data}));
  const auto [found, added] = received_.try_emplace(request.table);
  if (added) found->second.request = KeptAs(request, found->second.layout);
  found->second.value = std::move(value);
  return absl::OkStatus();
}

// The receiver asks for all that the program has ever pulled, each time that enough gradients have
// been sent.
void Communicator::ReceiveLoop() {
  while (true) {
    {
      Lock lock(mutex_);
      changed_.wait(lock, [&] {
        return stopping_ || !status_.ok() || sent_ >= sending_.min_send_grad_num_before_recv;
      });
      if (stopping_ || !status_.ok()) return;
      sent_ = 0;
    }
    if (const absl::Status status = ReceiveAll(); !status.ok()) return Note(status);
  }
}

// Refreshes every table that has been pulled before. The lock is not held while a server answers.
absl::Status Communicator::ReceiveAll() {
  std::vector<std::pair<exec::TableRequest, std::shared_ptr<const exec::Value>>> all;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& [unused, one] : received_) all.emplace_back(one.request, one.value);
  }
  exec::Value room;
  for (const auto& [request, last] : all) {
    room.dtype = last->dtype;
    DT_RETURN_IF_ERROR(room.Resize(last->dims));
    DT_RETURN_IF_ERROR(Receive(request, {room.dtype, room.dims, room.data()}));
  }
  return absl::OkStatus();
}

absl::Status Communicator::PullChanged(const exec::TableRequest& request,
                                       const exec::TensorRoom& to) {
  DT_RETURN_IF_ERROR(Flush());
  const std::lock_guard<std::mutex> asking(asking_);
  return link_->PullChanged(request, to);
}

absl::Status Communicator::Lookup(const exec::TableRequest& request, const int64_t* ids,
                                  int64_t count, const exec::TensorRoom& to) {
  return Lookups({{&request, ids, count, to}});
}

absl::Status Communicator::Lookups(const std::vector<Wanted>& all) {
  // Steps that go on with what was pulled before do with rows too.
  if (keeps_pulled()) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const Wanted& one : all) looked_up_.insert(one.request->table);
  } else {
    DT_RETURN_IF_ERROR(Flush());
  }
  const std::lock_guard<std::mutex> asking(asking_);
  return link_->Lookups(all);
}

absl::Status Communicator::EndPhase(const std::string& op, exec::Phase phase) {
  DT_RETURN_IF_ERROR(Flush());
  if (phase == exec::Phase::kPush) return Settle(op);
  const std::lock_guard<std::mutex> asking(asking_);
  return link_->EndPhase(op, phase);
}

absl::Status Communicator::Checkpoint(int64_t step) {
  DT_RETURN_IF_ERROR(Flush());
  const std::lock_guard<std::mutex> asking(asking_);
  return link_->Checkpoint(step);
}

absl::Status Communicator::Leave() {
  DT_RETURN_IF_ERROR(Flush());
  Stop();
  return link_->Leave();
}

void Communicator::Abort(const std::string& why) {
  link_->Abort(why);
  Note(absl::AbortedError(why));
}

}  // namespace dtranspile::ps
