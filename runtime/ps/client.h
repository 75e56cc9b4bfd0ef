// The servers of a role as a trainer reaches them over gRPC: what the worker of a role that pushes
// and pulls runs its requests with (tools/dtranspile/worker_main.cc).
//
// A push returns when its bytes have been copied out of the caller's memory; that they have arrived
// is known at the end of the phase, and an error of a push is that of the next request. Requests to
// several servers, and the messages of one request, are under way at once.
//
// Servers that apply every push by itself say so when the session begins. Their requests carry
// numbers of pushes in place of rounds (messages.proto): a pull gives what is there when the pushes
// before it have been applied.
#pragma once

#include <grpcpp/completion_queue.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/comm/gloo/wire.h"
#include "runtime/exec/server_link.h"
#include "runtime/ps/chunk_pool.h"
#include "runtime/ps/cut.h"
#include "runtime/ps/frame.h"
#include "runtime/ps/messages.pb.h"
#include "runtime/ps/peer.h"

namespace dtranspile::ps {

struct ClientOptions {
  std::vector<std::string> addresses;  // "host:port" of every server; empty: they tell it in
  std::string store;                   // the job's store at "host:port",
  std::string key;                     // under this key
  std::string token;                   // of the job
  double timeout_seconds = 60;         // of every request
  std::string digest;                  // of the job, equal for all roles
  std::string role = "trainer";
  int rank = 0, ranks = 1;
  std::string server_role = "server";
  Mesh servers = {{"ps", 1}};  // the mesh of that role
};

class Client : public exec::ServerLink {
 public:
  // Finds all servers and begins a session with each; waits for them until the deadline. Errors
  // name the server.
  static absl::StatusOr<std::unique_ptr<Client>> Connect(ClientOptions options);
  ~Client() override;

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
  void CheckpointThisRound() override { checkpoint_ = true; }
  absl::Status Leave() override;
  int64_t rounds() const override { return single_ ? -1 : std::max<int64_t>(round_, 0); }
  void Abort(const std::string& why) override;
  int64_t bytes_sent() const override { return sent_; }
  int64_t bytes_received() const override { return received_; }

 private:
  // Calls of one request, or the pushes of a phase.
  struct Batch {
    int64_t under_way = 0;
    absl::Status status;  // of the first one that failed
    bool lost = false;    // by the connection, whose end says more
  };
  using Taken = std::function<absl::Status(Payload& reply)>;

  explicit Client(ClientOptions options);
  absl::Status Meet();
  absl::StatusOr<std::string> AddressOf(int server, int64_t deadline_ns) const;
  absl::StatusOr<comm::Socket> Reach(int server, int64_t deadline_ns) const;
  absl::StatusOr<std::unique_ptr<Peer>> MeetServer(int server, int64_t deadline_ns);
  std::string ServerName(int server) const;
  void Loop();

  absl::StatusOr<const Cut*> CutOf(const exec::TableRequest& request);
  absl::StatusOr<const exec::Table*> TableOf(int64_t server, const std::string& table) const;
  absl::Status CheckTable(int64_t server, const std::string& table, DType dtype,
                          const std::vector<int64_t>& dims) const;
  absl::Status BeginPushes();
  absl::Status BeginPush(int64_t server);
  Request NewRequest(int64_t server) const;
  Request NewPush(int64_t server, const exec::TableRequest& request, exec::Merge merge,
                  DType dtype);
  absl::Status SendRows(const exec::TableRequest& request, exec::Merge merge,
                        const exec::Value& value, bool tracked);
  absl::StatusOr<std::vector<int64_t>> ChangedRows(const exec::TableRequest& request,
                                                   const Cut& cut);
  void Call(Batch& batch, int64_t server, const Request& request, std::vector<grpc::Slice> payload,
            const std::string& what, Taken taken = nullptr);
  absl::Status Wait(Batch& batch);
  absl::Status failure();
  void Fail(const std::string& why);
  void CancelAll();

  const ClientOptions options_;
  const int64_t timeout_ns_;
  std::shared_ptr<grpc::CompletionQueue> queue_;
  std::thread thread_;
  std::vector<std::unique_ptr<Peer>> peers_;  // by server; grows under the lock
  std::map<std::string, Cut> cuts_;           // by table
  const std::shared_ptr<ChunkPool> chunks_ = std::make_shared<ChunkPool>();
  int64_t round_;
  bool single_ = false;      // the servers apply every push by itself
  bool checkpoint_ = false;  // to be asked for with the end of the pushes
  // Where they do, by server: pushes so far, and how many of them are known to be applied.
  std::vector<int64_t> pushed_, settled_;
  Batch pushes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string failure_;  // of the whole link; empty: none
  std::atomic<int64_t> sent_{0}, received_{0};
};

}  // namespace dtranspile::ps
