#include "runtime/ps/peer.h"

#include <grpcpp/create_channel_posix.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/printable.h"
#include "runtime/comm/patience.h"
#include "runtime/ps/frame.h"
#include "runtime/ps/settings.h"
#include "runtime/tensor/tensor.h"

namespace dtranspile::ps {
namespace {

// Over a connection that has been made and proven already (the job's token): gRPC neither resolves
// names nor connects again, and a lost connection is a lost server.
std::shared_ptr<grpc::Channel> ChannelOver(const std::string& name, comm::Socket socket,
                                           double timeout_seconds) {
  grpc::ChannelArguments arguments;
  // Replies are rows of tables of which the trainer knows the extents.
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  SetArguments(timeout_seconds, [&](const char* key, int value) { arguments.SetInt(key, value); });
  return grpc::CreateCustomInsecureChannelFromFd(name, socket.Release(), arguments);
}

// A table as the server describes it; what it says is checked like any input.
absl::StatusOr<exec::Table> TableOf(const Table& message) {
  exec::Table table;
  table.name = message.name();
  const auto dtype = DTypeFromCode(message.dtype());
  table.dims.assign(message.dims().begin(), message.dims().end());
  if (!dtype || !ByteCount(*dtype, table.dims).ok())
    return absl::InvalidArgumentError(absl::StrCat("its table '", table.name, "' has no sense"));
  table.dtype = *dtype;
  return table;
}

// Waits for a condition with a deadline of the monotonic clock; false where that passed.
template <typename Condition>
bool WaitUntil(std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
               int64_t deadline_ns, Condition condition) {
  while (!condition()) {
    const int64_t left_ns = deadline_ns - comm::NowNs();
    if (left_ns <= 0) return false;
    changed.wait_for(lock, std::chrono::nanoseconds(left_ns));
  }
  return true;
}

}  // namespace

// Whether a status speaks of the connection, and not of the request: the reason may still come over
// the session, and is the better message.
bool IsLost(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::OK:
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::CANCELLED:
    case grpc::StatusCode::INTERNAL:
    case grpc::StatusCode::UNKNOWN: return true;
    default: return false;
  }
}

// A call under way; deletes itself.
struct Peer::Unary : Event {
  Unary(Peer& peer, Done done) : peer(peer), done(std::move(done)) {}
  void Happen(bool) override {
    done(status, reply);
    peer.Forget(this);
    delete this;
  }
  Peer& peer;
  const Done done;
  grpc::ClientContext context;
  std::unique_ptr<grpc::GenericClientAsyncResponseReader> reader;
  grpc::ByteBuffer reply;
  grpc::Status status;
};

// `queue` is that of the client's thread, which completes all calls; `on_failure` may be called
// from it.
Peer::Peer(std::string name, comm::Socket socket, double timeout_seconds,
           std::shared_ptr<grpc::CompletionQueue> queue, OnFailure on_failure)
    : name_(std::move(name)),
      queue_(std::move(queue)),
      on_failure_(std::move(on_failure)),
      channel_(ChannelOver(name_, std::move(socket), timeout_seconds)),
      stub_(channel_) {}

// Opens the session, a stream that lives as long as the connection: hello, welcome, abort and leave
// go over it, requests are calls of their own.
absl::Status Peer::Meet(const Hello& hello, int64_t deadline_ns) {
  SessionMessage message;
  *message.mutable_hello() = hello;
  std::unique_lock<std::mutex> lock(mutex_);
  out_.push_back(Pack(message));
  begun_ = true;
  stream_ = stub_.PrepareCall(&context_, kSessionMethod, queue_.get());
  stream_->StartCall(&start_);
  const bool in_time =
      WaitUntil(changed_, lock, deadline_ns, [&] { return welcome_ || !why_.empty(); });
  if (!why_.empty()) return absl::FailedPreconditionError(why_);
  if (in_time) return absl::OkStatus();
  return absl::DeadlineExceededError(absl::StrCat(name_, " does not answer"));
}

// Writes queue until the stream has started; where it has not, the read below fails and ends it.
void Peer::HasStarted(bool ok) {
  const std::lock_guard<std::mutex> lock(mutex_);
  started_ = true;
  if (ok) WriteNext();
  stream_->Read(&in_, &read_);
}

// One read is under way at any time; the stream is over when it fails.
void Peer::HasRead(bool ok) {
  SessionMessage message;
  if (ok) {
    if (const auto payload = Unpack(in_, message); payload.ok()) {
      Take(message);
      return stream_->Read(&in_, &read_);
    }
    context_.TryCancel();
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  read_over_ = true;
  FinishIfIdle();
}

// The first reason counts, and is told once: what follows a failure is its consequence.
void Peer::Take(const SessionMessage& message) {
  std::string why;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (message.has_welcome()) {
      session_ = message.welcome().session();
      most_waiting_ = message.welcome().most_waiting();
      for (const Table& one : message.welcome().tables()) {
        if (one.asked()) asked_.insert(one.name());
        auto table = TableOf(one);
        if (table.ok()) tables_.push_back(*std::move(table));
        else why = absl::StrCat(name_, ": ", table.status().message());
      }
      welcome_ = true;
    } else if (message.has_left()) {
      left_ = true;
    } else if (message.has_abort() && !left_) {
      why = Printable(message.abort().why(), LineBreaks::kIndent, kLongestMessage);
    }
    if (why_.empty()) why_ = why;
    changed_.notify_all();
    if (why.empty() || std::exchange(told_, true)) return;
  }
  on_failure_(why);
}

// on_failure_ runs before ended_ is set: whoever waits for the end may delete what it uses.
void Peer::HasFinished(bool) {
  std::string why;
  bool tell = false;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    why = IsLost(status_) ? absl::StrCat(name_,
                                         " is dead, or gives no sign of life: the connection was "
                                         "lost")
                          : status_.error_message();
    if (why_.empty()) why_ = why;
    tell = !left_ && !std::exchange(told_, true);
  }
  if (tell) on_failure_(why);
  const std::lock_guard<std::mutex> lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

// Dropped where there is no session, or no longer one.
void Peer::Send(const SessionMessage& message) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!begun_ || read_over_) return;
  out_.push_back(Pack(message));
  if (started_ && !writing_) WriteNext();
}

// gRPC takes one write at a time; others wait in their order.
void Peer::WriteNext() {
  writing_ = !out_.empty();
  if (writing_) stream_->Write(out_.front(), &write_);
}

// Nothing is written to a stream whose end has been read.
void Peer::HasWritten(bool ok) {
  const std::lock_guard<std::mutex> lock(mutex_);
  out_.pop_front();
  if (!ok || read_over_) out_.clear();
  WriteNext();
  FinishIfIdle();
}

// The status of the session is asked for when nothing else is under way.
void Peer::FinishIfIdle() {
  if (!read_over_ || writing_ || std::exchange(finishing_, true)) return;
  stream_->Finish(&status_, &finish_);
}

// Every call has a deadline, and is known while it is under way, so that all can be cancelled at
// once.
void Peer::Call(const Request& request, std::vector<grpc::Slice> payload, double seconds,
                Done done) {
  auto* call = new Unary(*this, std::move(done));
  constexpr double kNs = 1e9;
  call->context.set_deadline(std::chrono::system_clock::now() +
                             std::chrono::nanoseconds(static_cast<int64_t>(seconds * kNs)));
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    calls_.push_back(call);
    call->reader = stub_.PrepareUnaryCall(&call->context, kRequestMethod,
                                          Pack(request, std::move(payload)), queue_.get());
  }
  call->reader->StartCall();
  call->reader->Finish(&call->reply, &call->status, call);
}

// Close() waits for the last one.
void Peer::Forget(Unary* call) {
  const std::lock_guard<std::mutex> lock(mutex_);
  calls_.erase(std::find(calls_.begin(), calls_.end(), call));
  changed_.notify_all();
}

void Peer::Cancel() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (Unary* call : calls_) call->context.TryCancel();
}

// Of all servers first, then waited for one by one: leaving takes as long as the slowest, not the
// sum.
void Peer::BeginLeave() {
  SessionMessage message;
  message.mutable_leave();
  Send(message);
}

// Until the server has said that it will not miss this trainer.
absl::Status Peer::AwaitLeft(int64_t deadline_ns) {
  std::unique_lock<std::mutex> lock(mutex_);
  const bool in_time =
      WaitUntil(changed_, lock, deadline_ns, [&] { return left_ || !why_.empty(); });
  if (left_) return absl::OkStatus();
  if (!in_time)
    return absl::DeadlineExceededError(absl::StrCat(name_, " has not taken note in time"));
  return absl::AbortedError(why_);
}

void Peer::BeginAbort(const std::string& why) {
  SessionMessage message;
  message.mutable_abort()->set_why(why);
  Send(message);
}

void Peer::AwaitEnd(int64_t deadline_ns) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (begun_) WaitUntil(changed_, lock, deadline_ns, [&] { return ended_; });
}

// Does not return while gRPC still holds a pointer to this object.
void Peer::Close() {
  Cancel();
  std::unique_lock<std::mutex> lock(mutex_);
  left_ = true;  // whatever comes now is no news
  if (begun_) context_.TryCancel();
  // What is cancelled ends by itself, whatever the server does.
  changed_.wait(lock, [&] { return (!begun_ || ended_) && calls_.empty(); });
}

}  // namespace dtranspile::ps
