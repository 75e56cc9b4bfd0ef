// Small operations travel with the headers: everybody sees everything and computes its own result.
// Larger ones go in rounds of one area each, software-pipelined: round k + 1 is written before
// round k is read. Reductions are cut into as many parts as there are members; each combines its
// part of all contributions in rank order and hands the result round (reduce-scatter, then
// all-gather, both by direct exchange), so every result is computed once and is the same
// everywhere; two members both combine everything.
#include "runtime/comm/collectives.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "runtime/comm/reduce.h"
#include "runtime/comm/view.h"

namespace dtranspile::comm {
namespace {

constexpr size_t kAlign = 64;

size_t RoundUp(size_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

class Operation {
 public:
  Operation(Fabric& fabric, const Request& request, Traffic& traffic)
      : fabric_(fabric),
        request_(request),
        traffic_(traffic),
        n_(fabric.size()),
        me_(fabric.index()) {
    element_bytes_ = SizeOf(request.dtype);
  }

  absl::Status Run();

 private:
  View Inputs() const { return View::Whole(request_.inputs, element_bytes_); }
  View Outputs() const { return View::Whole(request_.outputs, element_bytes_); }
  View InputPart(int member) const {
    return View::Part(request_.inputs, element_bytes_, member, n_);
  }
  View OutputPart(int member) const {
    return View::Part(request_.outputs, element_bytes_, member, n_);
  }

  bool Contributes() const;
  absl::Status CheckHeaders() const;
  void FinishInline(size_t bytes);
  void CountInline(size_t bytes);

  absl::Status AllReduce();
  absl::Status AllReduceOfTwo();
  absl::StatusOr<const std::vector<std::byte*>*> ReachAll();
  absl::Status AllReduceDirect(const std::vector<std::byte*>& bases);
  absl::Status Reduce();
  absl::Status ReduceScatter();
  absl::Status AllToAll();
  absl::Status AllGather();
  absl::Status Broadcast(int root);

  // One message per round: `fill(area, offset, bytes)` writes this member's slots, `take(posted,
  // offset, bytes)` reads the others'. `total` bytes in rounds of `per_round`; `describe(bytes)`
  // gives the message.
  template <typename Describe, typename Fill, typename Take>
  absl::Status Rounds(size_t total, size_t per_round, Describe describe, Fill fill, Take take);

  // Combines [offset, offset + bytes) of this member's view with what the others posted, in rank
  // order, into the same range of `out`, whose pieces are those of `own`; and into flat memory at
  // `copy` where that is given.
  absl::Status Combine(const Posted& posted, const View& own, const View& out, size_t offset,
                       size_t bytes, std::byte* copy = nullptr);

  absl::StatusOr<const std::byte*> Await(const Posted& posted, int member);
  absl::StatusOr<Posted> Post(const Message& message);

  Fabric& fabric_;
  const Request& request_;
  Traffic& traffic_;
  const int n_, me_;
  size_t element_bytes_;
  Place place_;  // of this member's buffers
};

absl::StatusOr<const std::byte*> Operation::Await(const Posted& posted, int member) {
  absl::StatusOr<const std::byte*> data = fabric_.Await(posted, member);
  if (data.ok())
    traffic_.received += posted.message.SlotBytes(SlotFor(posted.message, member, me_));
  return data;
}

absl::StatusOr<Posted> Operation::Post(const Message& message) {
  absl::StatusOr<Posted> posted = fabric_.Post(message);
  for (int member = 0; posted.ok() && member < n_; ++member) {
    if (Reaches(message, me_, member))
      traffic_.sent += message.SlotBytes(SlotFor(message, me_, member));
  }
  return posted;
}

absl::Status Operation::CheckHeaders() const {
  for (int member = 1; member < n_; ++member) {
    absl::Status same = CheckSame(fabric_.HeaderOf(0), fabric_.RankOf(0), fabric_.HeaderOf(member),
                                  fabric_.RankOf(member));
    if (!same.ok()) return same;
  }
  return absl::OkStatus();
}

// Whether this member's inputs are read by anybody.
bool Operation::Contributes() const {
  switch (request_.kind) {
    case Kind::kBroadcast: return me_ == request_.peer;
    case Kind::kSend: return true;
    case Kind::kRecv:
    case Kind::kBarrier: return false;
    default: return true;
  }
}

absl::Status Operation::Run() {
  Header header = MakeHeader(request_, n_);
  size_t bytes = static_cast<size_t>(header.count) *
                 element_bytes_;  // of one contribution, alike on all members
  if (request_.kind == Kind::kReduceScatter) bytes *= n_;
  if (request_.kind == Kind::kBarrier) bytes = 0;
  const bool small = bytes <= fabric_.inline_bytes();

  if (!small && request_.kind == Kind::kAllReduce) {
    place_ = PlaceOf(request_, element_bytes_);
    header.share = place_.share;
    header.places = place_.layout;
  }
  std::vector<std::byte> payload;
  if (small && bytes > 0 && Contributes()) {
    payload.resize(bytes);
    Inputs().CopyTo(payload.data(), 0, bytes);
  }
  if (absl::Status status = fabric_.Meet(header, payload.data(), payload.size()); !status.ok())
    return status;
  if (absl::Status status = CheckHeaders(); !status.ok()) return status;
  if (small) {
    if (bytes > 0) FinishInline(bytes);
    return absl::OkStatus();
  }
  switch (request_.kind) {
    case Kind::kAllReduce: {
      const auto bases = ReachAll();
      if (!bases.ok()) return bases.status();
      return *bases != nullptr ? AllReduceDirect(**bases)
             : n_ == 2         ? AllReduceOfTwo()
                               : AllReduce();
    }
    case Kind::kReduce: return Reduce();
    case Kind::kBroadcast: return Broadcast(request_.peer);
    case Kind::kAllGather: return AllGather();
    case Kind::kReduceScatter: return ReduceScatter();
    case Kind::kAllToAll: return AllToAll();
    case Kind::kSend:
    case Kind::kRecv: return Broadcast(0);
    case Kind::kBarrier: break;
  }
  return absl::OkStatus();
}

void Operation::FinishInline(size_t bytes) {
  CountInline(bytes);
  const Kind kind = request_.kind;
  if (kind == Kind::kSend || (kind == Kind::kReduce && me_ != request_.peer)) return;
  if (kind == Kind::kBroadcast || kind == Kind::kRecv) {
    Outputs().CopyFrom(fabric_.PayloadOf(kind == Kind::kRecv ? 0 : request_.peer), 0, bytes);
    return;
  }
  // What this rank gets of every contribution is a run of its flat bytes only where the list has
  // one piece; in general it is part `me` of every piece, which a view over the payload finds.
  const auto part_of = [&](int member, int index) {
    std::vector<Segment> pieces;
    std::byte* data = const_cast<std::byte*>(fabric_.PayloadOf(member));
    for (const Segment& input : request_.inputs) {
      pieces.push_back({data, input.count});
      data += static_cast<size_t>(input.count) * element_bytes_;
    }
    return View::Part(pieces, element_bytes_, index, n_);
  };
  if (kind == Kind::kAllGather) {
    for (int member = 0; member < n_; ++member)
      OutputPart(member).CopyFrom(fabric_.PayloadOf(member), 0, bytes);
    return;
  }
  std::vector<std::byte> flat;
  if (kind == Kind::kAllToAll) {
    flat.resize(bytes / n_);
    for (int member = 0; member < n_; ++member) {
      part_of(member, me_).CopyTo(flat.data(), 0, flat.size());
      OutputPart(member).CopyFrom(flat.data(), 0, flat.size());
    }
    return;
  }
  const bool scatter = kind == Kind::kReduceScatter;
  const size_t result_bytes = scatter ? bytes / n_ : bytes;
  flat.resize(result_bytes * (scatter ? n_ + 1 : 1));
  std::vector<const std::byte*> sources(n_);
  for (int member = 0; member < n_; ++member) {
    sources[member] = fabric_.PayloadOf(member);
    if (!scatter) continue;
    std::byte* copy = flat.data() + result_bytes * (member + 1);
    part_of(member, me_).CopyTo(copy, 0, result_bytes);
    sources[member] = copy;
  }
  comm::Reduce(request_.dtype, request_.reduce, sources.data(), n_, flat.data(),
               result_bytes / element_bytes_);
  Outputs().CopyFrom(flat.data(), 0, result_bytes);
}

void Operation::CountInline(size_t bytes) {
  for (int member = 0; member < n_; ++member) {
    if (member == me_) continue;
    const bool rooted = request_.kind == Kind::kBroadcast;
    const bool sender = request_.kind == Kind::kSend ||
                        (rooted ? me_ == request_.peer : request_.kind != Kind::kRecv);
    const bool receiver = request_.kind == Kind::kRecv ||
                          (rooted ? member == request_.peer : request_.kind != Kind::kSend);
    if (sender) traffic_.sent += bytes;
    if (receiver) traffic_.received += bytes;
  }
}

template <typename Describe, typename Fill, typename Take>
absl::Status Operation::Rounds(size_t total, size_t per_round, Describe describe, Fill fill,
                               Take take) {
  struct Open {
    Posted posted;
    size_t offset, bytes;
  };
  std::optional<Open> open;
  const auto close = [&]() -> absl::Status {
    if (!open) return absl::OkStatus();
    if (absl::Status status = take(open->posted, open->offset, open->bytes); !status.ok())
      return status;
    fabric_.Finish(open->posted);
    return absl::OkStatus();
  };
  for (size_t offset = 0; offset < total; offset += per_round) {
    const size_t bytes = std::min(per_round, total - offset);
    absl::StatusOr<std::byte*> area = fabric_.NextArea();
    if (!area.ok()) return area.status();
    fill(*area, offset, bytes);
    absl::StatusOr<Posted> posted = Post(describe(bytes));
    if (!posted.ok()) return posted.status();
    if (absl::Status status = close(); !status.ok()) return status;
    open = Open{*posted, offset, bytes};
  }
  return close();
}

absl::Status Operation::Combine(const Posted& posted, const View& own, const View& out,
                                size_t offset, size_t bytes, std::byte* copy) {
  std::vector<const std::byte*> data(n_), sources(n_);
  for (int member = 0; member < n_; ++member) {
    if (member == me_) continue;
    absl::StatusOr<const std::byte*> theirs = Await(posted, member);
    if (!theirs.ok()) return theirs.status();
    data[member] = *theirs;
  }
  own.ForRuns(offset, bytes, [&](const std::byte* mine, size_t from, size_t length) {
    const size_t skip = from - offset;
    for (int member = 0; member < n_; ++member)
      sources[member] = member == me_ ? mine : data[member] + skip;
    const int64_t count = length / element_bytes_;
    comm::Reduce(request_.dtype, request_.reduce, sources.data(), n_, out.At(from), count,
                 copy != nullptr ? copy + skip : nullptr);
  });
  return absl::OkStatus();
}

// The members' blocks, if every member's buffers lie in one of its own and at the same offsets in
// it.
absl::StatusOr<const std::vector<std::byte*>*> Operation::ReachAll() {
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
absl::Status Operation::AllReduceDirect(const std::vector<std::byte*>& bases) {
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
absl::Status Operation::AllReduceOfTwo() {
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
absl::Status Operation::AllReduce() {
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

absl::Status Operation::Reduce() {
  const View in = Inputs(), out = Outputs();
  const int root = request_.peer;
  return Rounds(
      in.bytes(), fabric_.area_bytes(),
      [&](size_t bytes) { return Message{Pattern::kToRoot, root, 0, bytes, bytes * n_}; },
      [&](std::byte* area, size_t offset, size_t bytes) {
        if (me_ != root) in.CopyTo(area, offset, bytes);
      },
      [&](const Posted& posted, size_t offset, size_t bytes) -> absl::Status {
        return me_ == root ? Combine(posted, in, out, offset, bytes) : absl::OkStatus();
      });
}

absl::Status Operation::ReduceScatter() {
  std::vector<View> parts;
  for (int member = 0; member < n_; ++member) parts.push_back(InputPart(member));
  const View out = Outputs();
  const size_t per_round = fabric_.area_bytes() / n_;
  return Rounds(
      out.bytes(), per_round,
      [&](size_t bytes) { return Message{Pattern::kScatter, 0, per_round, bytes, bytes * n_}; },
      [&](std::byte* area, size_t offset, size_t bytes) {
        for (int member = 0; member < n_; ++member) {
          if (member != me_) parts[member].CopyTo(area + per_round * member, offset, bytes);
        }
      },
      [&](const Posted& posted, size_t offset, size_t bytes) -> absl::Status {
        return Combine(posted, parts[me_], out, offset, bytes);
      });
}

absl::Status Operation::AllToAll() {
  std::vector<View> from, to;
  for (int member = 0; member < n_; ++member) {
    from.push_back(InputPart(member));
    to.push_back(OutputPart(member));
  }
  const size_t per_round = fabric_.area_bytes() / n_;
  return Rounds(
      from[0].bytes(), per_round,
      [&](size_t bytes) { return Message{Pattern::kScatter, 0, per_round, bytes, bytes * n_}; },
      [&](std::byte* area, size_t offset, size_t bytes) {
        for (int member = 0; member < n_; ++member)
          from[member].CopyTo(area + per_round * member, offset, bytes);
        to[me_].CopyFrom(area + per_round * me_, offset, bytes);
      },
      [&](const Posted& posted, size_t offset, size_t bytes) -> absl::Status {
        for (int member = 0; member < n_; ++member) {
          if (member == me_) continue;
          absl::StatusOr<const std::byte*> data = Await(posted, member);
          if (!data.ok()) return data.status();
          to[member].CopyFrom(*data, offset, bytes);
        }
        return absl::OkStatus();
      });
}

absl::Status Operation::AllGather() {
  const View in = Inputs();
  std::vector<View> to;
  for (int member = 0; member < n_; ++member) to.push_back(OutputPart(member));
  return Rounds(
      in.bytes(), fabric_.area_bytes(),
      [&](size_t bytes) { return Message{Pattern::kGather, 0, 0, bytes, bytes * n_}; },
      [&](std::byte* area, size_t offset, size_t bytes) {
        in.CopyTo(area, offset, bytes);
        to[me_].CopyFrom(area, offset, bytes);
      },
      [&](const Posted& posted, size_t offset, size_t bytes) -> absl::Status {
        for (int member = 0; member < n_; ++member) {
          if (member == me_) continue;
          absl::StatusOr<const std::byte*> data = Await(posted, member);
          if (!data.ok()) return data.status();
          to[member].CopyFrom(*data, offset, bytes);
        }
        return absl::OkStatus();
      });
}

// Broadcast in the group, and send in a pair (whose sender is member 0 and has no outputs).
absl::Status Operation::Broadcast(int root) {
  const View in = me_ == root ? Inputs() : View(), out = Outputs();
  const size_t total = me_ == root ? in.bytes() : out.bytes();
  const bool copies = me_ == root && request_.kind == Kind::kBroadcast;
  return Rounds(
      total, fabric_.area_bytes(),
      [&](size_t bytes) { return Message{Pattern::kFromRoot, root, 0, bytes, bytes * n_}; },
      [&](std::byte* area, size_t offset, size_t bytes) {
        if (me_ == root) in.CopyTo(area, offset, bytes);
        if (copies) out.CopyFrom(area, offset, bytes);
      },
      [&](const Posted& posted, size_t offset, size_t bytes) -> absl::Status {
        if (me_ == root) return absl::OkStatus();
        absl::StatusOr<const std::byte*> data = Await(posted, root);
        if (!data.ok()) return data.status();
        out.CopyFrom(*data, offset, bytes);
        return absl::OkStatus();
      });
}

}  // namespace

absl::Status RunOperation(Fabric& fabric, const Request& request, Traffic& traffic) {
  return Operation(fabric, request, traffic).Run();
}

}  // namespace dtranspile::comm
