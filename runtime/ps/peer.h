// One server as a trainer reaches it: a connection, the stream of the session on it, and calls. All
// peers of a client share its completion queue, whose thread calls back here. Used by the client
// (client.h).
#pragma once

#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/comm/gloo/wire.h"
#include "runtime/exec/server_link.h"
#include "runtime/ps/messages.pb.h"
#include "runtime/ps/server_stream.h"

namespace dtranspile::ps {

// Whether a call has ended by a word of gRPC itself, not of the server.
bool IsLost(const grpc::Status& status);

class Peer {
 public:
  // Told once why the session has ended without the trainer's leave: the server has said so, or is
  // gone.
  using OnFailure = std::function<void(const std::string& why)>;

  // Over a connection that has been proven. `name`: "server 1", for messages.
  Peer(std::string name, comm::Socket socket, double timeout_seconds,
       std::shared_ptr<grpc::CompletionQueue> queue, OnFailure on_failure);
  // After Close.
  ~Peer() = default;

  const std::string& name() const { return name_; }

  // Begins the session and waits for the server's Welcome. kDeadlineExceeded, or what the server
  // has against this trainer.
  absl::Status Meet(const Hello& hello, int64_t deadline_ns);
  // From Meet on.
  uint64_t session() const { return session_; }
  const std::vector<exec::Table>& tables() const { return tables_; }
  // Whether programs of the server answer pulls or lookups of a table.
  bool answers_for(const std::string& table) const { return asked_.count(table) > 0; }
  // Pushes of this trainer that the server keeps while they wait to be applied, each by itself; 0:
  // it has rounds.
  int64_t most_waiting() const { return most_waiting_; }

  // A call. `done` is called by the queue's thread, once, also after Close.
  using Done = std::function<void(const grpc::Status& status, const grpc::ByteBuffer& reply)>;
  void Call(const Request& request, std::vector<grpc::Slice> payload, double seconds, Done done);
  // Makes all calls under way end soon.
  void Cancel();

  // Says that this trainer has done its last step, and waits until the server has taken note.
  void BeginLeave();
  absl::Status AwaitLeft(int64_t deadline_ns);
  // Says that the job ends, and waits until the server has read it, or is gone. Safe from any
  // thread.
  void BeginAbort(const std::string& why);
  void AwaitEnd(int64_t deadline_ns);
  // Ends the session and everything under way; returns when gRPC has let go of it all.
  void Close();

 private:
  struct Step : Event {
    Step(Peer& peer, void (Peer::*done)(bool)) : peer(peer), done(done) {}
    void Happen(bool ok) override { (peer.*done)(ok); }
    Peer& peer;
    void (Peer::* const done)(bool);
  };
  struct Unary;

  void HasStarted(bool ok);
  void HasRead(bool ok);
  void HasWritten(bool ok);
  void HasFinished(bool ok);
  void Take(const SessionMessage& message);
  void Send(const SessionMessage& message);
  void WriteNext();
  void FinishIfIdle();
  void Forget(Unary* call);

  const std::string name_;
  const std::shared_ptr<grpc::CompletionQueue> queue_;
  const OnFailure on_failure_;
  const std::shared_ptr<grpc::Channel> channel_;
  grpc::GenericStub stub_;

  grpc::ClientContext context_;
  std::unique_ptr<grpc::GenericClientAsyncReaderWriter> stream_;
  Step start_{*this, &Peer::HasStarted}, read_{*this, &Peer::HasRead},
      write_{*this, &Peer::HasWritten}, finish_{*this, &Peer::HasFinished};
  grpc::ByteBuffer in_;
  grpc::Status status_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<grpc::ByteBuffer> out_;
  bool begun_ = false, started_ = false, writing_ = false;
  bool read_over_ = false, finishing_ = false, ended_ = false;
  bool welcome_ = false, left_ = false, told_ = false;
  std::string why_;  // of the end
  uint64_t session_ = 0;
  int64_t most_waiting_ = 0;
  std::vector<exec::Table> tables_;
  std::set<std::string> asked_;  // of them
  std::vector<Unary*> calls_;
};

}  // namespace dtranspile::ps
