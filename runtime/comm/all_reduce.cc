// Three ways, the first that applies. Where all buffers lie in memory that the members share,
// nothing is copied into messages. Two members show each other everything. More of them cut the
// elements into as many parts as there are members; each combines its part of all contributions and
// hands the result round (reduce-scatter, then all-gather, both by direct exchange): 2·(n − 1)/n of
// the bytes sent by each, which is the least that n members can do (Patarasuk, Yuan, "Bandwidth
// optimal all-reduce algorithms", 2009), in two hops where a ring takes 2·(n − 1).
#include "runtime/comm/all_reduce.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "runtime/comm/exchange.h"
#include "runtime/comm/reduce.h"

namespace dtranspile::comm {
namespace {

constexpr size_t kAlign = 64;

size_t RoundUp(size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

class AllReduce : public Exchange {
 public:
  AllReduce(Fabric& fabric, const Request& request, Traffic& traffic, const Place& place)
      : Exchange(fabric, request, traffic), place_(place) {}

  absl::Status Run();

 private:
  absl::StatusOr<const std::vector<std::byte*>*> Reach();
  absl::Status Direct(const std::vector<std::byte*>& bases);
  absl::Status OfTwo();
  absl::Status InParts();

  const Place& place_;
};

absl::Status AllReduce::Run() {
  const auto bases = Reach();
  if (!bases.ok()) return bases.status();
  if (*bases != nullptr) return Direct(**bases);
  return n_ == 2 ? OfTwo() : InParts();
}

// The members' blocks, if every member's buffers lie in one of its own and at the same offsets in
// it.
absl::StatusOr<const std::vector<std::byte*>*> AllReduce::Reach() {
  std::vector<ShareId> shares;
  for (int member = 0; member < n_; ++member) {
    const Header& header = fabric_.HeaderOf(member);
    const bool known = std::find(shares.begin(), shares.end(), header.share) != shares.end();
    if (header.share.inode == 0 || known || header.places != fabric_.HeaderOf(0).places)
      return nullptr;
    shares.push_back(header.share);
  }
  return fabric_.Reach(shares, place_.base);
}

// Every byte is read once and written once where it lies: each member combines one part of all
// inputs and stores it in all outputs. In place nobody else reads or writes that part. All have
// arrived; nobody goes on before all have stored.
absl::Status AllReduce::Direct(const std::vector<std::byte*>& bases) {
  constexpr size_t kBlockBytes =
      32 << 10;  // stays in the first-level cache between the first output and the others
  const View in = Inputs(), out = Outputs();
  const size_t each = RoundUp((in.bytes() + n_ - 1) / n_), begin = std::min(each * me_, in.bytes()),
               end = std::min(begin + each, in.bytes());
  const auto theirs = [&](int member, const std::byte* mine) {
    return bases[member] + (mine - place_.base);
  };
  std::vector<const std::byte*> sources(n_);
  in.ForRuns(begin, end - begin, [&](const std::byte* run, size_t from, size_t length) {
    std::byte* results = out.At(from);
    for (size_t at = 0; at < length; at += kBlockBytes) {
      const size_t bytes = std::min(kBlockBytes, length - at);
      std::byte* result = results + at;
      for (int member = 0; member < n_; ++member) sources[member] = theirs(member, run + at);
      comm::Reduce(request_.dtype, request_.reduce, sources.data(), n_, result,
                   static_cast<int64_t>(bytes / element_bytes_),
                   n_ == 2 ? theirs(1 - me_, result) : nullptr);
      for (int member = 0; n_ > 2 && member < n_; ++member) {
        if (member != me_) std::memcpy(theirs(member, result), result, bytes);
      }
    }
  });
  traffic_.sent += (end - begin) * (n_ - 1) + (in.bytes() - (end - begin));
  traffic_.received += (end - begin) * (n_ - 1) + (in.bytes() - (end - begin));
  return fabric_.Meet(Header(), nullptr, 0);
}

// With two members a message to everybody is as long as two halves in two messages: both show all
// they have and combine all of it, in rank order, with one hand-over per round.
absl::Status AllReduce::OfTwo() {
  const View in = Inputs(), out = Outputs();
  return Rounds(
      in.bytes(), fabric_.area_bytes(),
      [&](size_t bytes) { return Message{Pattern::kGather, 0, 0, bytes, bytes * n_}; },
      [&](std::byte* area, size_t offset, size_t bytes) { in.CopyTo(area, offset, bytes); },
      [&](const Posted& posted, size_t offset, size_t bytes) {
        return Combine(posted, in, out, offset, bytes);
      });
}

// Two messages per round: the parts (kScatter), then each member's reduced part (kGather), written
// where its own part would have been. Order within round k: write parts k, read results k - 1,
// combine parts k, post results k.
absl::Status AllReduce::InParts() {
  const View in = Inputs(), out = Outputs();
  const size_t per_round = fabric_.area_bytes();
  std::optional<Posted> results;
  size_t results_offset = 0;
  const auto take_results = [&]() -> absl::Status {
    if (!results) return absl::OkStatus();
    const Message& message = results->message;
    for (int member = 0; member < n_; ++member) {
      const size_t bytes = message.SlotBytes(member);
      if (member == me_ || bytes == 0) continue;
      absl::StatusOr<const std::byte*> data = Await(*results, member);
      if (!data.ok()) return data.status();
      out.CopyFrom(*data, results_offset + message.each * member, bytes);
    }
    fabric_.Finish(*results);
    return absl::OkStatus();
  };
  for (size_t offset = 0; offset < in.bytes(); offset += per_round) {
    const size_t bytes = std::min(per_round, in.bytes() - offset);
    const size_t each = RoundUp((bytes + n_ - 1) / n_);
    Message message{Pattern::kScatter, 0, each, each, bytes};
    absl::StatusOr<std::byte*> area = fabric_.NextArea();
    if (!area.ok()) return area.status();
    for (int member = 0; member < n_; ++member) {
      if (member != me_)
        in.CopyTo(*area + each * member, offset + each * member, message.SlotBytes(member));
    }
    absl::StatusOr<Posted> parts = Post(message);
    if (!parts.ok()) return parts.status();
    if (absl::Status status = take_results(); !status.ok()) return status;

    std::byte* own = *area + each * me_;
    const size_t own_bytes = message.SlotBytes(me_);
    if (own_bytes > 0) {
      if (absl::Status status = Combine(*parts, in, out, offset + each * me_, own_bytes, own);
          !status.ok())
        return status;
    }
    fabric_.Finish(*parts);
    message.pattern = Pattern::kGather;
    absl::StatusOr<Posted> posted = Post(message);
    if (!posted.ok()) return posted.status();
    results = *posted;
    results_offset = offset;
  }
  return take_results();
}

}  // namespace

absl::Status RunAllReduce(Fabric& fabric, const Request& request, Traffic& traffic,
                          const Place& place) {
  return AllReduce(fabric, request, traffic, place).Run();
}

}  // namespace dtranspile::comm
