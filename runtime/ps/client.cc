#include "runtime/ps/client.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/printable.h"
#include "runtime/base/status.h"
#include "runtime/comm/gloo/handshake.h"
#include "runtime/comm/gloo/store.h"
#include "runtime/comm/patience.h"
#include "runtime/ps/awaited.h"
#include "runtime/ps/door.h"
#include "runtime/ps/frame.h"
#include "runtime/ps/kept_memory.h"
#include "runtime/ps/protocol.h"
#include "runtime/ps/settings.h"

namespace dtranspile::ps {
namespace {

using comm::NowNs;

constexpr double kNs = 1e9;
// How long the reason for a lost connection may take to come.
constexpr int64_t kReasonNs = 500'000'000;
// Bytes of pushes under way, beyond which a push waits.
constexpr int64_t kMostUnderWay = int64_t{256} << 20;

double SecondsUntil(int64_t deadline_ns) {
  return std::max(static_cast<double>(deadline_ns - NowNs()) / kNs, 0.0);
}

}  // namespace

// One thread takes all events of all connections from one queue.
Client::Client(ClientOptions options)
    : options_(std::move(options)),
      timeout_ns_(static_cast<int64_t>(options_.timeout_seconds * kNs)),
      queue_(std::make_shared<grpc::CompletionQueue>()),
      round_(kStartUp) {
  thread_ = std::thread([this] { Loop(); });
}

Client::~Client() {
  for (const auto& peer : peers_) peer->Close();
  queue_->Shutdown();
  thread_.join();
}

void Client::Loop() {
  void* tag = nullptr;
  for (bool ok = false; queue_->Next(&tag, &ok);) static_cast<Event*>(tag)->Happen(ok);
}

// Options are checked, then the servers are met: everybody compares the digest of the job before
// the first request.
absl::StatusOr<std::unique_ptr<Client>> Client::Connect(ClientOptions options) {
  if (options.rank < 0 || options.rank >= options.ranks || RanksOf(options.servers) < 1)
    return absl::InvalidArgumentError(absl::StrCat(
        options.role, " ", options.rank, " of ", options.ranks, " with ", RanksOf(options.servers),
        " of role '", options.server_role, "' makes no sense"));
  if (!options.addresses.empty() &&
      static_cast<int64_t>(options.addresses.size()) != RanksOf(options.servers))
    return absl::InvalidArgumentError(absl::StrCat(options.addresses.size(), " addresses of ",
                                                   RanksOf(options.servers), " servers '",
                                                   options.server_role, "'"));
  KeepFreedMemory();
  std::unique_ptr<Client> client(new Client(std::move(options)));
  DT_RETURN_IF_ERROR(client->Meet());
  return client;
}

// Servers one after the other, all before one deadline. Either all have rounds or none: pushes are
// numbered by round in one case, by themselves in the other.
absl::Status Client::Meet() {
  const int64_t deadline_ns = NowNs() + timeout_ns_;
  const auto servers = static_cast<int>(RanksOf(options_.servers));
  for (int server = 0; server < servers; ++server) {
    auto peer = MeetServer(server, deadline_ns);
    if (peer.ok()) {
      const std::lock_guard<std::mutex> lock(mutex_);
      peers_.push_back(*std::move(peer));
      continue;
    }
    absl::Status status = peer.status();
    // One that has failed since has left word why.
    if (const auto again = AddressOf(server, NowNs() + kReasonNs); absl::IsAborted(again.status()))
      status = again.status();
    // Those that are there already learn why this trainer never comes further.
    Abort(absl::StrCat(options_.role, " ", options_.rank, ": ", status.message()));
    return status;
  }
  pushed_.resize(peers_.size());
  settled_.resize(peers_.size());
  single_ = peers_.front()->most_waiting() > 0;
  for (const auto& peer : peers_)
    if ((peer->most_waiting() > 0) != single_)
      return absl::InvalidArgumentError(
          absl::StrCat(peer->name(), " and ", peers_.front()->name(),
                       " disagree: one has rounds, and one applies every push by itself"));
  return absl::OkStatus();
}

std::string Client::ServerName(int server) const {
  return absl::StrCat(options_.server_role, " ", server);
}

// kAborted for one that has left word that it failed.
absl::StatusOr<std::string> Client::AddressOf(int server, int64_t deadline_ns) const {
  if (!options_.addresses.empty()) return options_.addresses[static_cast<size_t>(server)];
  const std::string name = ServerName(server);
  const auto word = comm::StoreClient(options_.store, options_.token)
                        .Get(AddressKey(options_.key, server), SecondsUntil(deadline_ns));
  if (absl::IsDeadlineExceeded(word.status()))
    return absl::DeadlineExceededError(
        absl::StrCat(name, " is not there: it has not told its address within ",
                     options_.timeout_seconds, " s (", word.status().message(), ")"));
  if (!word.ok()) return word.status();
  if (word->rfind(kFailed, 0) == 0)
    return absl::AbortedError(
        absl::StrCat(name, " has failed: ", Printable(word->substr(sizeof(kFailed) - 1))));
  return word->substr(std::min(word->size(), sizeof(kAt) - 1));
}

// One that does not answer may have left word that it failed, or begin anew elsewhere: it is asked
// for again every second. The last of these tries may be over before anybody could answer, so that
// what is reported is what any of them was told at that address.
absl::StatusOr<comm::Socket> Client::Reach(int server, int64_t deadline_ns) const {
  constexpr int64_t kTryNs = 1'000'000'000;
  DT_ASSIGN_OR_RETURN(const comm::Key key, comm::KeyOfToken(options_.token));
  std::string address;
  bool hung_up = false;
  while (true) {
    DT_ASSIGN_OR_RETURN(std::string now_at, AddressOf(server, deadline_ns));
    if (now_at != std::exchange(address, now_at)) hung_up = false;
    auto socket = comm::Call(address, key, PurposeOf(options_.server_role, server),
                             static_cast<uint32_t>(options_.rank),
                             std::min(deadline_ns, NowNs() + kTryNs), hung_up);
    if (socket.ok()) return socket;
    if (absl::IsDeadlineExceeded(socket.status()) && NowNs() < deadline_ns) continue;
    return absl::Status(
        socket.status().code(),
        absl::StrCat(ServerName(server), " at ", Printable(address), " is not reached within ",
                     options_.timeout_seconds, " s: ", socket.status().message()));
  }
}

// The hello says who calls, for which job and of which version of the protocol; a server that
// disagrees with any of it refuses, and says why, before any data moves.
absl::StatusOr<std::unique_ptr<Peer>> Client::MeetServer(int server, int64_t deadline_ns) {
  DT_ASSIGN_OR_RETURN(comm::Socket socket, Reach(server, deadline_ns));
  SendAtOnce(socket);
  auto peer =
      std::make_unique<Peer>(ServerName(server), std::move(socket), options_.timeout_seconds,
                             queue_, [this](const std::string& why) { Fail(why); });
  Hello hello;
  hello.set_protocol(kProtocolVersion);
  hello.set_digest(options_.digest);
  hello.set_role(options_.role);
  hello.set_rank(static_cast<uint32_t>(options_.rank));
  hello.set_ranks(static_cast<uint32_t>(options_.ranks));
  hello.set_server_role(options_.server_role);
  hello.set_server(static_cast<uint32_t>(server));
  hello.set_servers(static_cast<uint32_t>(RanksOf(options_.servers)));
  if (const absl::Status status = peer->Meet(hello, deadline_ns); !status.ok()) {
    peer->Close();
    return status;
  }
  return peer;
}

// Wakes every waiter and cancels all calls: after one server is gone no answer of the others is of
// use.
void Client::Fail(const std::string& why) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (failure_.empty()) failure_ = why;
    changed_.notify_all();
  }
  CancelAll();
}

void Client::CancelAll() {
  std::vector<Peer*> peers;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& peer : peers_) peers.push_back(peer.get());
  }
  for (Peer* peer : peers) peer->Cancel();
}

absl::Status Client::failure() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return failure_.empty() ? absl::OkStatus() : absl::AbortedError(failure_);
}

// Session and round (or the number of pushes so far), by which the server tells early from late.
Request Client::NewRequest(int64_t server) const {
  Request request;
  request.set_session(peers_[static_cast<size_t>(server)]->session());
  request.set_round(single_ ? pushed_[static_cast<size_t>(server)] : round_);
  return request;
}

// `what`: "the push of table 'w'", for messages.
// Starts a call that counts in `batch` until it is answered; the batch keeps the first error.
// `taken` reads the content of the reply on the thread of the queue.
void Client::Call(Batch& batch, int64_t server, const Request& request,
                  std::vector<grpc::Slice> payload, const std::string& what, Taken taken) {
  Peer& peer = *peers_[static_cast<size_t>(server)];
  const double patience = PatienceOf(
      request.has_end_phase() || request.has_checkpoint() ? Awaited::kPhase : Awaited::kAnswer,
      options_.timeout_seconds);
  int64_t bytes = 0;
  for (const grpc::Slice& slice : payload) bytes += static_cast<int64_t>(slice.size());
  sent_ += bytes;
  const std::string when = single_ ? "" : absl::StrCat(" in ", RoundName(round_));
  const auto done = [this, &batch, &peer, what, bytes, patience, when, taken = std::move(taken)](
                        const grpc::Status& status, const grpc::ByteBuffer& reply) {
    absl::Status result;
    const std::string where = absl::StrCat(what, when);
    if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) {
      result = absl::DeadlineExceededError(
          absl::StrCat(peer.name(), " has not answered ", where, " within ", patience, " s"));
    } else if (!status.ok()) {
      const auto code = static_cast<absl::StatusCode>(status.error_code());
      result = IsLost(status)
                   ? absl::UnavailableError(absl::StrCat(peer.name(), " is not reached for ", where,
                                                         ": ", status.error_message()))
                   : absl::Status(code, status.error_message());
    } else if (taken) {
      std::vector<grpc::Slice> slices;
      result = absl::InternalError(absl::StrCat(peer.name(), " answers ", what, " with no sense"));
      if (reply.Valid() && reply.Dump(&slices).ok()) {
        Payload content(std::move(slices), 0);
        received_ += content.left();
        result = taken(content);
      }
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    batch.under_way -= std::max<int64_t>(bytes, 1);
    if (batch.status.ok() && !result.ok()) {
      batch.status = result;
      batch.lost = absl::IsUnavailable(result);
    }
    changed_.notify_all();
  };
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    batch.under_way += std::max<int64_t>(bytes, 1);
  }
  peer.Call(request, std::move(payload), patience, done);
}

// Waits for all calls of a batch. Memory that they write to stays valid until each has ended, also
// after a failure. Of a lost connection the reason may come over the session a little later, and is
// waited for.
absl::Status Client::Wait(Batch& batch) {
  std::unique_lock<std::mutex> lock(mutex_);
  // Every call has a deadline.
  changed_.wait(lock, [&] { return batch.under_way == 0 || !failure_.empty(); });
  if (!failure_.empty()) {
    lock.unlock();
    CancelAll();
    lock.lock();
    changed_.wait(lock, [&] { return batch.under_way == 0; });
  }
  if (batch.status.ok()) return failure_.empty() ? absl::OkStatus() : absl::AbortedError(failure_);
  if (batch.lost)
    changed_.wait_for(lock, std::chrono::nanoseconds(kReasonNs), [&] { return !failure_.empty(); });
  if (failure_.empty()) failure_ = std::string(batch.status.message());
  return absl::AbortedError(failure_);
}

// The start-up's pulls end with the first push, where the program has none: then values came from
// files.
absl::Status Client::BeginPushes() {
  DT_RETURN_IF_ERROR(failure());
  if (!single_ && round_ == kStartUp) DT_RETURN_IF_ERROR(EndPhase("", exec::Phase::kPull));
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return pushes_.under_way < kMostUnderWay || !failure_.empty(); });
  return absl::OkStatus();
}

// Where a server keeps no more pushes until some have been applied: waits until all of them have.
absl::Status Client::BeginPush(int64_t server) {
  const auto at = static_cast<size_t>(server);
  if (!single_ || pushed_[at] - settled_[at] < peers_[at]->most_waiting()) return absl::OkStatus();
  DT_RETURN_IF_ERROR(Wait(pushes_));
  Batch batch;
  Request message = NewRequest(server);
  message.mutable_end_phase()->set_phase(PHASE_PUSH);
  Call(batch, server, message, {}, "the pushes before");
  DT_RETURN_IF_ERROR(Wait(batch));
  settled_[at] = pushed_[at];
  return absl::OkStatus();
}

// A barrier with all servers: each answers when all trainers have come to it.
absl::Status Client::EndPhase(const std::string& op, exec::Phase phase) {
  const bool pushes = phase == exec::Phase::kPush;
  DT_RETURN_IF_ERROR(pushes ? BeginPushes() : failure());
  // What has been pushed has to be there first.
  DT_RETURN_IF_ERROR(Wait(pushes_));
  Batch batch;
  for (size_t server = 0; server < peers_.size(); ++server) {
    Request message = NewRequest(static_cast<int64_t>(server));
    message.mutable_end_phase()->set_phase(pushes ? PHASE_PUSH : PHASE_PULL);
    message.mutable_end_phase()->set_checkpoint(pushes && checkpoint_);
    Call(batch, static_cast<int64_t>(server), message, {},
         pushes ? "the end of the pushes" : "the end of the pulls");
  }
  DT_RETURN_IF_ERROR(Wait(batch));
  if (pushes) settled_ = pushed_;
  if (pushes) checkpoint_ = false;
  if (!pushes && !single_) ++round_;
  return absl::OkStatus();
}

// What has been pushed has to be there first: the servers answer when it is applied, and written.
absl::Status Client::Checkpoint(int64_t step) {
  DT_RETURN_IF_ERROR(failure());
  DT_RETURN_IF_ERROR(Wait(pushes_));
  Batch batch;
  for (size_t server = 0; server < peers_.size(); ++server) {
    Request message = NewRequest(static_cast<int64_t>(server));
    message.mutable_checkpoint()->set_step(step);
    Call(batch, static_cast<int64_t>(server), message, {},
         absl::StrCat("the request for the checkpoint after ", step, " steps"));
  }
  return Wait(batch);
}

absl::Status Client::Leave() {
  DT_RETURN_IF_ERROR(failure());
  DT_RETURN_IF_ERROR(Wait(pushes_));
  const int64_t deadline_ns = NowNs() + timeout_ns_;
  for (const auto& peer : peers_) peer->BeginLeave();
  for (const auto& peer : peers_) DT_RETURN_IF_ERROR(peer->AwaitLeft(deadline_ns));
  return absl::OkStatus();
}

// A second, so that the word gets out; nobody waits longer for servers that may be dead.
void Client::Abort(const std::string& why) {
  constexpr int64_t kSecondNs = 1'000'000'000;
  const int64_t deadline_ns = NowNs() + kSecondNs;
  for (const auto& peer : peers_) peer->BeginAbort(why);
  for (const auto& peer : peers_) peer->AwaitEnd(deadline_ns);
}

}  // namespace dtranspile::ps
