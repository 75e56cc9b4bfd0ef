#include "runtime/comm/gloo/fabric.h"

#include <gloo/transport/pair.h>

#include <algorithm>
#include <cstring>
#include <exception>

#include "absl/strings/str_cat.h"

namespace dtranspile::comm {
namespace {

constexpr size_t kArea = 1 << 20;
constexpr std::chrono::milliseconds kForever = std::chrono::hours(100);

// Gloo reports trouble by exceptions; they end here.
template <typename Body>
absl::Status Guarded(Body body) {
  try {
    body();
    return absl::OkStatus();
  } catch (const std::exception& e) {
    return absl::UnavailableError(e.what());
  }
}

}  // namespace

// Whoever waits is woken first: closing alone would leave a wait on a buffer of a healthy pair as
// it is.
void GlooLink::Close() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    for (const Waiting& one : waiting_)
      one.receive ? one.buffer->abortWaitRecv() : one.buffer->abortWaitSend();
  }
  Guarded([&] { context_->closeConnections(); }).IgnoreError();
}

// Waits are listed while they last, so that closing the link can abort each of them: Gloo has no
// way to abort all. The lock is not held during the wait.
bool GlooLink::Await(gloo::transport::UnboundBuffer& buffer, bool receive,
                     std::chrono::milliseconds timeout) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (closed_) return false;
    waiting_.push_back({&buffer, receive});
  }
  const auto forget = [&] {
    std::lock_guard<std::mutex> lock(mutex_);
    std::erase_if(waiting_, [&](const Waiting& one) { return one.buffer == &buffer; });
  };
  try {
    const bool done = receive ? buffer.waitRecv(timeout) : buffer.waitSend(timeout);
    forget();
    return done;
  } catch (...) {
    forget();
    throw;
  }
}

// A peer that is gone has had its goodbyes, or died: its errors are no reason to leave the others
// early.
void SayGoodbye(GlooLink& link, int rank, int size, double seconds) {
  const int64_t deadline_ns = NowNs() + static_cast<int64_t>(seconds * 1e9);
  std::vector<char> words(2 * size);
  std::vector<std::unique_ptr<gloo::transport::UnboundBuffer>> sent(size), received(size);
  for (int peer = 0; peer < size; ++peer) {
    if (peer == rank) continue;
    Guarded([&] {
      received[peer] = link.context().createUnboundBuffer(&words[peer], 1);
      received[peer]->recv(peer, 0, 0, 1);
      sent[peer] = link.context().createUnboundBuffer(&words[size + peer], 1);
      sent[peer]->send(peer, 0, 0, 1);
    }).IgnoreError();
  }
  for (int peer = 0; peer < size; ++peer) {
    for (const auto* buffers : {&received, &sent}) {
      gloo::transport::UnboundBuffer* buffer = (*buffers)[peer].get();
      const std::chrono::milliseconds left(
          std::max<int64_t>((deadline_ns - NowNs()) / 1'000'000, 1));
      if (buffer != nullptr)
        Guarded([&] { link.Await(*buffer, buffers == &received, left); }).IgnoreError();
    }
  }
}

GlooFabric::GlooFabric(GlooLink& link, uint64_t slot, std::vector<int> ranks, int index,
                       Patience& patience)
    : link_(link),
      slot_(slot),
      ranks_(std::move(ranks)),
      index_(index),
      patience_(patience),
      area_bytes_(std::max<size_t>(kArea / (64 * ranks_.size()), 1) * 64 * ranks_.size()),
      members_(ranks_.size()) {
  for (std::vector<std::byte>& area : areas_) area.resize(area_bytes_);
}

GlooFabric::~GlooFabric() {
  const int64_t deadline_ns = NowNs() + static_cast<int64_t>(kGoodbyeSeconds * 1e9);
  for (const std::vector<Sending>* sendings :
       {&meeting_sendings_[0], &meeting_sendings_[1], &area_sendings_[0], &area_sendings_[1]}) {
    for (const Sending& sending : *sendings) {
      const std::chrono::milliseconds left(
          std::max<int64_t>((deadline_ns - NowNs()) / 1'000'000, 1));
      Guarded([&] { link_.Await(*sending.buffer, false, left); }).IgnoreError();
    }
  }
}

absl::StatusOr<std::unique_ptr<Fabric>> GlooFabric::Make(GlooLink& link, uint64_t slot,
                                                         std::vector<int> ranks, int index,
                                                         Patience& patience) {
  std::unique_ptr<GlooFabric> fabric(new GlooFabric(link, slot, std::move(ranks), index, patience));
  const absl::Status status = Guarded([&] { fabric->ExpectMeeting(1); });
  if (!status.ok()) return fabric->Failure(0, NowNs(), std::string(status.message()));
  return fabric;
}

// Gloo sends to a receive that it knows of without asking first, so receives are posted early.
void GlooFabric::ExpectMeeting(uint64_t number) {
  for (int member = 0; member < size(); ++member) {
    if (member == index_) continue;
    Member& them = members_[member];
    them.meeting_buffer[number & 1] =
        Receive(member, slot_, &them.meeting[number & 1], sizeof(Meeting));
  }
}

GlooFabric::Buffer GlooFabric::Receive(int member, uint64_t slot, void* data, size_t bytes) {
  Buffer buffer = link_.context().createUnboundBuffer(data, bytes);
  buffer->recv(ranks_[member], slot, 0, bytes);
  return buffer;
}

void GlooFabric::Send(int member, uint64_t slot, void* data, size_t bytes,
                      std::vector<Sending>& sendings) {
  sendings.push_back({member, link_.context().createUnboundBuffer(data, bytes)});
  sendings.back().buffer->send(ranks_[member], slot, 0, bytes);
}

// A failed wait becomes a status that names the member and how long it was waited for, and, where
// Gloo threw, what it said.
absl::Status GlooFabric::AwaitBuffer(gloo::transport::UnboundBuffer& buffer, bool receive,
                                     int member) {
  patience_.WaitsFor(ranks_[member]);
  const int64_t begin_ns = NowNs();
  // Without a caller there is no deadline; one that comes later minds it (queue.cc).
  const std::chrono::milliseconds timeout =
      patience_.caller_waits() ? std::chrono::milliseconds(patience_.timeout_ns() / 1'000'000 + 1)
                               : kForever;
  bool done = false;
  const absl::Status status = Guarded([&] { done = link_.Await(buffer, receive, timeout); });
  if (done) return absl::OkStatus();
  return Failure(member, begin_ns, status.ok() ? "" : std::string(status.message()));
}

// What is said of a wait that failed: the deadline, else the reason that another rank has left in
// the store, else the loss of the connection.
absl::Status GlooFabric::Failure(int member, int64_t begin_ns, const std::string& what) {
  // Gloo has closed the connections by itself when its own wait timed out; that is no news of the
  // peer.
  if (patience_.caller_waits() && NowNs() - begin_ns >= patience_.timeout_ns()) {
    return absl::DeadlineExceededError(absl::StrCat(
        "rank ", ranks_[member], " has not come within ", patience_.timeout_seconds(), " s"));
  }
  const std::string reason = link_.Reason();
  if (!reason.empty()) return absl::AbortedError(reason);
  return absl::UnavailableError(absl::StrCat(
      "lost the connection to rank ", ranks_[member], "; it has died or left the group",
      what.empty() ? "" : " (", what, what.empty() ? "" : ")"));
}

absl::Status GlooFabric::AwaitSendings(std::vector<Sending>& sendings) {
  for (const Sending& sending : sendings) {
    if (absl::Status status = AwaitBuffer(*sending.buffer, false, sending.member); !status.ok())
      return status;
  }
  sendings.clear();
  return absl::OkStatus();
}

// Headers go in two halves by turns, as areas do: the half of this meeting was last sent two
// meetings ago, and that it has gone is what is waited for first. The receive of the next meeting
// is posted before anybody can send it.
absl::Status GlooFabric::Meet(const Header& header, const std::byte* payload, size_t bytes) {
  ++meetings_;
  const uint64_t half = meetings_ & 1;
  if (absl::Status status = AwaitSendings(meeting_sendings_[half]); !status.ok()) return status;
  Meeting& mine = members_[index_].meeting[half];
  mine.header = header;
  if (bytes > 0) std::memcpy(mine.payload, payload, bytes);
  for (int member = 0; member < size(); ++member) {
    if (member == index_) continue;
    const int64_t begin_ns = NowNs();
    const absl::Status status =
        Guarded([&] { Send(member, slot_, &mine, sizeof(mine), meeting_sendings_[half]); });
    if (!status.ok()) return Failure(member, begin_ns, std::string(status.message()));
  }
  for (int member = 0; member < size(); ++member) {
    if (member == index_) continue;
    if (absl::Status status = AwaitBuffer(*members_[member].meeting_buffer[half], true, member);
        !status.ok())
      return status;
  }
  // A peer that is lost by now shows in the next meeting, not in this one, which is complete.
  Guarded([&] { ExpectMeeting(meetings_ + 1); }).IgnoreError();
  return absl::OkStatus();
}

absl::StatusOr<std::byte*> GlooFabric::NextArea() {
  ++round_;
  if (absl::Status status = AwaitSendings(area_sendings_[round_ & 1]); !status.ok()) return status;
  return areas_[round_ & 1].data();
}

// Receives before sends for every member, so that what arrives finds its place and Gloo need not
// ask.
absl::StatusOr<Posted> GlooFabric::Post(const Message& message) {
  ++messages_;
  std::byte* area = areas_[round_ & 1].data();
  for (int member = 0; member < size(); ++member) {
    const size_t incoming =
        Reaches(message, member, index_) ? message.SlotBytes(SlotFor(message, member, index_)) : 0;
    const size_t outgoing =
        Reaches(message, index_, member) ? message.SlotBytes(SlotFor(message, index_, member)) : 0;
    const int64_t begin_ns = NowNs();
    const absl::Status status = Guarded([&] {
      if (incoming > 0) {
        Inbox& inbox = members_[member].inbox[messages_ & 1];
        if (inbox.bytes.size() < incoming) inbox.bytes.resize(incoming);
        inbox.buffer = Receive(member, slot_ + 1, inbox.bytes.data(), incoming);
      }
      if (outgoing > 0) {
        std::byte* data = area + message.stride * SlotFor(message, index_, member);
        Send(member, slot_ + 1, data, outgoing, area_sendings_[round_ & 1]);
      }
    });
    if (!status.ok()) return Failure(member, begin_ns, std::string(status.message()));
  }
  return Posted{message, messages_, round_};
}

absl::StatusOr<const std::byte*> GlooFabric::Await(const Posted& posted, int member) {
  Inbox& inbox = members_[member].inbox[posted.number & 1];
  if (absl::Status status = AwaitBuffer(*inbox.buffer, true, member); !status.ok()) return status;
  return inbox.bytes.data();
}

}  // namespace dtranspile::comm
