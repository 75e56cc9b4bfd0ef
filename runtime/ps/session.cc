#include "runtime/ps/session.h"

#include <random>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/printable.h"
#include "runtime/base/status.h"
#include "runtime/ps/frame.h"
#include "runtime/ps/service.h"
#include "runtime/ps/settings.h"

namespace dtranspile::ps {
namespace {

// What a peer says of itself, in a message of ours.
std::string Said(const std::string& text) {
  return Printable(text, LineBreaks::kIndent, kLongestMessage);
}

}  // namespace

uint64_t NewSessionNumber() {
  std::random_device random;
  return (uint64_t{random()} << 32) | random();
}

void Session::Begin() { Read(); }

void Session::Read() { stream_->io.Read(&in_, &read_); }

// A stream that ends without a leave is a trainer that is lost: its process has ended, or its
// machine.
void Session::HasRead(bool ok) {
  // The end of the session may be told to another thread before this one has come out of here.
  const auto self = shared_from_this();
  if (!ok) {
    if (trainer_ >= 0) host_.protocol().Lost(trainer_);
    return End(absl::OkStatus());
  }
  SessionMessage message;
  const auto payload = Unpack(in_, message);
  absl::Status status = payload.status();
  if (status.ok()) {
    Take(message);
  } else {
    if (trainer_ >= 0) host_.protocol().Lost(trainer_);
    End(status);
  }
}

// The first message has to be a hello, after which there are only two others; with either of them
// the session ends, and nothing more is read.
void Session::Take(const SessionMessage& message) {
  Protocol& protocol = host_.protocol();
  if (trainer_ < 0) {
    const absl::Status status = message.has_hello()
                                    ? Meet(message.hello())
                                    : absl::InvalidArgumentError("a session without its begin");
    if (!status.ok()) return End(status);
  } else if (message.has_leave()) {
    protocol.Leave(trainer_);
    SessionMessage left;
    left.mutable_left();
    Send(left);
    return End(absl::OkStatus());
  } else if (message.has_abort()) {
    protocol.Fail(absl::StrCat(host_.options().trainer_role, " ", trainer_,
                               " failed: ", Said(message.abort().why())));
    return End(absl::OkStatus());
  }
  Read();
}

// Whoever says something else than this server about the job as a whole ends it: it would never
// come to its end.
absl::Status Session::Meet(const Hello& hello) {
  const ServiceOptions& mine = host_.options();
  const std::string who = absl::StrCat(Said(hello.role()), " ", hello.rank());
  const auto differs = [&](const auto&... parts) {
    const std::string why = absl::StrCat(who, " ", parts...);
    host_.protocol().Fail(why);
    return absl::FailedPreconditionError(why);
  };
  if (hello.protocol() != kProtocolVersion)
    return differs("speaks version ", hello.protocol(), " of the protocol, and ", mine.role, " ",
                   mine.server, " version ", kProtocolVersion);
  if (hello.digest() != mine.digest)
    return differs("runs another job than ", mine.role, " ", mine.server, " (",
                   Said(hello.digest()), ", not ", mine.digest, ")");
  if (hello.ranks() != static_cast<uint32_t>(mine.trainers))
    return differs("is one of ", hello.ranks(), ", and ", mine.role, " ", mine.server, " has ",
                   mine.trainers);
  if (hello.server_role() != mine.role || hello.server() != static_cast<uint32_t>(mine.server) ||
      hello.servers() != static_cast<uint32_t>(mine.servers))
    return differs("asks for ", Said(hello.server_role()), " ", hello.server(), " of ",
                   hello.servers(), ", and this is ", mine.role, " ", mine.server, " of ",
                   mine.servers);
  const int trainer = hello.rank() < hello.ranks() ? static_cast<int>(hello.rank()) : -1;
  DT_RETURN_IF_ERROR(host_.protocol().Join(trainer));
  trainer_ = trainer;
  SessionMessage answer;
  Welcome& welcome = *answer.mutable_welcome();
  welcome.set_session(host_.Admit(trainer));
  welcome.set_most_waiting(host_.protocol().most_waiting());
  for (const exec::Table& table : host_.protocol().tables()) {
    Table& one = *welcome.add_tables();
    one.set_name(table.name);
    one.set_dtype(static_cast<int32_t>(table.dtype));
    for (int64_t extent : table.dims) one.add_dims(extent);
    one.set_asked(host_.protocol().Asks(table));
  }
  Send(answer);
  return absl::OkStatus();
}

void Session::Abort(const std::string& why) {
  SessionMessage message;
  message.mutable_abort()->set_why(why);
  Send(message);
}

// gRPC allows one write at a time per stream, so that messages queue here.
void Session::Send(const SessionMessage& message) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (ended_) return;
  out_.push_back(Pack(message));
  if (!writing_) WriteNext();
}

// With the lock held. The message stays at the front until it has been written: gRPC reads it from
// there.
void Session::WriteNext() {
  writing_ = !out_.empty();
  if (!writing_) return;
  stream_->io.Write(out_.front(), &write_);
}

// What is still queued when the peer is gone is dropped.
void Session::HasWritten(bool ok) {
  const auto self = shared_from_this();
  const std::lock_guard<std::mutex> lock(mutex_);
  out_.pop_front();
  if (!ok) out_.clear();  // nobody is there to read
  WriteNext();
  FinishIfIdle();
}

void Session::End(const absl::Status& status) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ended_ = true;
  status_ = status;
  FinishIfIdle();
}

// With the lock held. gRPC refuses a finish while a write is under way; it comes after it then.
void Session::FinishIfIdle() {
  if (!ended_ || writing_ || finished_) return;
  finished_ = true;
  stream_->io.Finish(OnTheWire(status_), &finish_);
}

void Session::HasFinished(bool) { host_.Forget(this); }

}  // namespace dtranspile::ps
