// A fabric over the pairs of a Gloo context: messages are sent from this member's area and received
// into inboxes, so that Gloo never touches memory of the caller, also not after a failure. Used by
// the Gloo communicator.
#pragma once

#include <gloo/context.h>
#include <gloo/transport/unbound_buffer.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "runtime/comm/fabric.h"
#include "runtime/comm/patience.h"

namespace dtranspile::comm {

// What the fabrics of a communicator share.
class GlooLink {
 public:
  // `reason()` finds out why the group has failed, once a connection is lost; "" if nobody knows.
  GlooLink(std::shared_ptr<gloo::Context> context, std::function<std::string()> reason)
      : context_(std::move(context)), reason_(std::move(reason)) {}

  gloo::Context& context() { return *context_; }
  std::string Reason() { return reason_(); }

  // Ends all waits, now and later, and closes the connections.
  void Close();

  // Waits for a send or receive; false when closed. May throw what Gloo throws.
  bool Await(gloo::transport::UnboundBuffer& buffer, bool receive,
             std::chrono::milliseconds timeout);

 private:
  struct Waiting {
    gloo::transport::UnboundBuffer* buffer;
    bool receive;
  };

  const std::shared_ptr<gloo::Context> context_;
  const std::function<std::string()> reason_;
  std::mutex mutex_;
  std::vector<Waiting> waiting_;
  bool closed_ = false;
};

// Waits until all peers want to leave as well, or are gone, or the time is over. Closing a
// connection throws away what the peer has not read yet, so a rank that is done stays until the
// others have had everything.
void SayGoodbye(GlooLink& link, int rank, int size, double seconds);
inline constexpr uint64_t kFirstLaneSlot = 1;  // slot 0 is that of goodbyes
inline constexpr double kGoodbyeSeconds = 10;  // the longest that leaving takes

class GlooFabric : public Fabric {
 public:
  // `slot` and `slot + 1` belong to this fabric.
  static absl::StatusOr<std::unique_ptr<Fabric>> Make(GlooLink& link, uint64_t slot,
                                                      std::vector<int> ranks, int index,
                                                      Patience& patience);

  // Waits until what it sends is on its way: Gloo forgets sends whose memory goes. Not after
  // GlooLink::Close.
  ~GlooFabric() override;

  int size() const override { return static_cast<int>(ranks_.size()); }
  int index() const override { return index_; }
  int RankOf(int member) const override { return ranks_[member]; }
  size_t inline_bytes() const override { return kPayloadBytes; }
  size_t area_bytes() const override { return area_bytes_; }

  absl::Status Meet(const Header& header, const std::byte* payload, size_t bytes) override;
  const Header& HeaderOf(int member) const override { return meeting(member).header; }
  const std::byte* PayloadOf(int member) const override { return meeting(member).payload; }
  absl::StatusOr<std::byte*> NextArea() override;
  absl::StatusOr<Posted> Post(const Message& message) override;
  absl::StatusOr<const std::byte*> Await(const Posted& posted, int member) override;
  void Finish(const Posted&) override {}

 private:
  static constexpr size_t kMeetingBytes = 1024;
  static constexpr size_t kPayloadBytes = kMeetingBytes - sizeof(Header);
  using Buffer = std::unique_ptr<gloo::transport::UnboundBuffer>;
  struct Meeting {
    Header header;
    std::byte payload[kPayloadBytes];
  };
  struct Inbox {
    std::vector<std::byte> bytes;
    Buffer buffer;
  };
  struct Member {
    Meeting meeting[2];
    Buffer meeting_buffer[2];
    Inbox inbox[2];
  };
  struct Sending {
    int member;
    Buffer buffer;
  };

  GlooFabric(GlooLink& link, uint64_t slot, std::vector<int> ranks, int index, Patience& patience);
  const Meeting& meeting(int member) const { return members_[member].meeting[meetings_ & 1]; }
  void Send(int member, uint64_t slot, void* data, size_t bytes, std::vector<Sending>& sendings);
  Buffer Receive(int member, uint64_t slot, void* data, size_t bytes);
  void ExpectMeeting(uint64_t number);
  absl::Status AwaitBuffer(gloo::transport::UnboundBuffer& buffer, bool receive, int member);
  absl::Status AwaitSendings(std::vector<Sending>& sendings);
  absl::Status Failure(int member, int64_t begin_ns, const std::string& what);

  GlooLink& link_;
  const uint64_t slot_;
  const std::vector<int> ranks_;
  const int index_;
  Patience& patience_;
  const size_t area_bytes_;

  std::vector<Member> members_;
  std::vector<std::byte> areas_[2];
  std::vector<Sending> meeting_sendings_[2];
  std::vector<Sending> area_sendings_[2];
  uint64_t meetings_ = 0, round_ = 0, messages_ = 0;
};

}  // namespace dtranspile::comm
