// Every operation begins with a Meet, in which the headers are compared: members that do not call
// the same operation learn it before any data moves. Small operations travel with the headers
// (inline_operation.cc). Larger ones go in rounds of one area each, software-pipelined
// (exchange.h): below as one message per round whose pattern is the operation's; all_reduce.cc has
// several algorithms.
#include "runtime/comm/collectives.h"

#include <vector>

#include "runtime/comm/all_reduce.h"
#include "runtime/comm/exchange.h"
#include "runtime/comm/inline_operation.h"

namespace dtranspile::comm {
namespace {

class Operation : public Exchange {
 public:
  using Exchange::Exchange;
  absl::Status Run();

 private:
  bool Contributes() const;
  absl::Status CheckHeaders() const;

  absl::Status Reduce();
  absl::Status ReduceScatter();
  absl::Status AllToAll();
  absl::Status AllGather();
  absl::Status Broadcast(int root);
};

// Every member compares all headers with member 0's, so all of them come to the same verdict and
// none is left waiting.
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

// What is small goes with the headers: one meeting, and the operation is over. A large all-reduce
// tells in its header where the buffers lie, so that members of one host may reach them without
// copies.
absl::Status Operation::Run() {
  Header header = MakeHeader(request_, n_);
  size_t bytes = static_cast<size_t>(header.count) *
                 element_bytes_;  // of one contribution, alike on all members
  if (request_.kind == Kind::kReduceScatter) bytes *= n_;
  if (request_.kind == Kind::kBarrier) bytes = 0;
  const bool small = bytes <= fabric_.inline_bytes();

  Place place;  // of this member's buffers
  if (!small && request_.kind == Kind::kAllReduce) {
    place = PlaceOf(request_, element_bytes_);
    header.share = place.share;
    header.places = place.layout;
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
    if (bytes > 0) FinishInline(fabric_, request_, traffic_, bytes);
    return absl::OkStatus();
  }
  switch (request_.kind) {
    case Kind::kAllReduce: return RunAllReduce(fabric_, request_, traffic_, place);
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

// Every member posts its input; the root combines what is posted, in the order of members
// (Combine), so that the bits do not depend on who comes first.
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

// An area is cut into a piece for each member: a round posts the pieces of all parts at one offset,
// and every member combines those that are for it.
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

// The same with copies in place of the combination.
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

// Every member posts its input and copies what the others post.
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
