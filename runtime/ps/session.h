// The stream between a server and one trainer, from Hello to the trainer's end: who it is, and that
// it lives. Made by the service (service.cc), which holds it until gRPC has let go of it.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/status.h"
#include "runtime/ps/messages.pb.h"
#include "runtime/ps/protocol.h"
#include "runtime/ps/server_stream.h"

namespace dtranspile::ps {

struct ServiceOptions;
class Session;

// What sessions need of the service.
class SessionHost {
 public:
  virtual const ServiceOptions& options() const = 0;
  virtual Protocol& protocol() = 0;
  // The number of a new session.
  virtual uint64_t Admit(int trainer) = 0;
  virtual void Forget(Session* session) = 0;

 protected:
  ~SessionHost() = default;
};

// Not to be guessed.
uint64_t NewSessionNumber();

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(SessionHost& host, std::unique_ptr<ServerStream> stream)
      : host_(host), stream_(std::move(stream)) {}

  void Begin();
  // Tells the trainer that the job ends. Safe from any thread.
  void Abort(const std::string& why);

 private:
  // The three things that gRPC does for a session, each one at a time.
  struct Step : Event {
    Step(Session& session, void (Session::*done)(bool)) : session(session), done(done) {}
    void Happen(bool ok) override { (session.*done)(ok); }
    Session& session;
    void (Session::* const done)(bool);
  };

  void Read();
  void HasRead(bool ok);
  void HasWritten(bool ok);
  void HasFinished(bool);
  void Take(const SessionMessage& message);
  absl::Status Meet(const Hello& hello);
  void Send(const SessionMessage& message);
  void WriteNext();
  void End(const absl::Status& status);
  void FinishIfIdle();

  SessionHost& host_;
  const std::unique_ptr<ServerStream> stream_;
  Step read_{*this, &Session::HasRead}, write_{*this, &Session::HasWritten},
      finish_{*this, &Session::HasFinished};
  grpc::ByteBuffer in_;
  int trainer_ = -1;  // known from Hello on; of the reading step only
  std::mutex mutex_;
  std::deque<grpc::ByteBuffer> out_;
  bool writing_ = false, ended_ = false, finished_ = false;
  absl::Status status_;
};

}  // namespace dtranspile::ps
