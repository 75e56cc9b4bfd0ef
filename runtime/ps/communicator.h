// The queues of a trainer in front of servers that apply every push by itself
// (docs/parameter-server.md, Queues): what the framework calls its communicator. A link in front of
// a link; worker_links.cc puts it before the client's where servers have no rounds.
//
//     program ── push w ──► queue of w ─┐  senders: up to max_merge_var_num
//             ── push b ──► queue of b ─┴─ of one queue become one push ──► servers
//             ◄─ pull w ─── a pull of its own, or what the receiver has ◄── servers
//
// Where nothing is merged, nobody receives by itself and one thread is enough, the program's own
// thread sends at once. send_queue_size bounds what a variable has waiting and under way together.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/exec/server_link.h"
#include "runtime/exec/value.h"

namespace dtranspile::ps {

class Communicator : public exec::ServerLink {
 public:
  // Of servers without rounds.
  explicit Communicator(std::unique_ptr<exec::ServerLink> link);
  ~Communicator() override;

  absl::Status Configure(const exec::Sending& sending) override;
  absl::Status Push(const exec::TableRequest& request, exec::Merge merge,
                    const TensorView& value) override;
  absl::Status PushRows(const exec::TableRequest& request, exec::Merge merge,
                        const exec::Value& value) override;
  absl::Status PushChanged(const exec::TableRequest& request, exec::Merge merge,
                           const TensorView& value) override;
  absl::Status Pull(const exec::TableRequest& request, const exec::TensorRoom& to) override;
  absl::Status PullChanged(const exec::TableRequest& request, const exec::TensorRoom& to) override;
  absl::Status Lookup(const exec::TableRequest& request, const int64_t* ids, int64_t count,
                      const exec::TensorRoom& to) override;
  absl::Status Lookups(const std::vector<Wanted>& all) override;
  absl::Status EndPhase(const std::string& op, exec::Phase phase) override;
  absl::Status Checkpoint(int64_t step) override;
  absl::Status Leave() override;
  int64_t rounds() const override { return link_->rounds(); }
  void Abort(const std::string& why) override;
  int64_t bytes_sent() const override { return link_->bytes_sent(); }
  int64_t bytes_received() const override { return link_->bytes_received(); }

 private:
  enum class How { kDense, kRows, kChanged };
  struct Gradient {
    How how;
    exec::Merge merge;
    exec::Value value;
    int64_t came_ns;
  };
  // Of a table: what is asked of its servers, in the name of whoever has pushed first.
  struct Queue {
    std::optional<exec::Layout> layout;
    exec::TableRequest request;
    std::deque<Gradient> waiting;  // the oldest first
    int64_t sending = 0;           // that a sender has taken
    int64_t flying = 0;            // that are sent, and not known to be applied
    int64_t held() const { return static_cast<int64_t>(waiting.size()) + sending + flying; }
  };
  // Of a table, where a pull need not ask: what was received last. Lookups always ask.
  struct Received {
    std::optional<exec::Layout> layout;
    exec::TableRequest request;
    std::shared_ptr<const exec::Value> value;
  };

  bool has_senders() const { return !senders_.empty(); }
  bool keeps_pulled() const {
    return sending_.independent_recv_thread != 0 || sending_.min_send_grad_num_before_recv > 1;
  }
  Queue& QueueOf(const exec::TableRequest& request);
  absl::Status KnowFirst(const exec::TableRequest& request, DType dtype,
                         const std::vector<int64_t>& dims);
  absl::Status PushNow(const exec::TableRequest& request, How how, exec::Merge merge,
                       const TensorView& view, const exec::Value* rows);
  absl::Status Enqueue(const exec::TableRequest& request, How how, exec::Merge merge,
                       const TensorView& view, const exec::Value* rows);
  Queue* Ripe(int64_t now_ns, int64_t& wake_ns);
  void SendLoop();
  absl::Status Send(Queue& queue, std::vector<Gradient>& gradients);
  absl::Status Settle(const std::string& op);
  absl::Status Flush();
  bool IsDue();
  absl::Status Receive(const exec::TableRequest& request, const exec::TensorRoom& to);
  void ReceiveLoop();
  absl::Status ReceiveAll();
  void Note(const absl::Status& status);
  void Stop();

  const std::unique_ptr<exec::ServerLink> link_;
  exec::Sending sending_;
  std::vector<std::thread> senders_;
  std::optional<std::thread> receiver_;
  std::mutex asking_;  // one thread at a time asks the link
  std::mutex mutex_;   // of all below
  std::condition_variable changed_;
  absl::Status status_;  // of the first request that has failed
  bool stopping_ = false;
  int flushing_ = 0;                          // who waits for queues to be empty
  std::map<std::string, Queue> queues_;       // by table
  std::map<std::string, Received> received_;  // by table
  std::set<std::string> looked_up_;           // tables that are never pulled whole
  int64_t pushed_ = 0;                        // gradients since the last pull that was due
  int64_t sent_ = 0;                          // gradients since the receiver has asked last
  bool decided_ = false, due_ = false;        // of the pulls that follow the last push
};

}  // namespace dtranspile::ps
