#include "runtime/exec/flight/divergence.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace dtranspile::flight {
namespace {

using exec::Json;

// "trainer 0, 1, 2"
std::string NamesOf(const std::vector<size_t>& ranks, const std::vector<Recording>& recordings) {
  std::string text, role;
  for (size_t rank : ranks) {
    const Recording& one = recordings[rank];
    absl::StrAppend(&text, text.empty() ? "" : ", ", one.role == role ? "" : one.role + " ",
                    one.rank);
    role = one.role;
  }
  return text;
}

// What a rank waits in, if it waits: a rank waits in one operation at a time.
const Event* WaitOf(const Recording& recording) {
  const auto found = std::find_if(recording.events.rbegin(), recording.events.rend(),
                                  [](const Event& event) { return event.waits(); });
  return found == recording.events.rend() ? nullptr : &*found;
}

uint64_t EventsOf(const Recording& recording) {
  return recording.events.empty() ? 0 : recording.events.back().number + 1;
}

// Who waits for whom. The k-th operation of a channel waits for those members that have begun fewer
// than k + 1 on theirs. Where all have begun it, bytes move while a member waits for anything (as
// the communicator promises), so that it waits for those that wait for nothing.
class WaitGraph {
 public:
  explicit WaitGraph(const std::vector<Recording>& recordings) : recordings_(recordings) {
    for (size_t i = 0; i < recordings.size(); ++i) waits_.push_back(WaitOf(recordings[i]));
    for (size_t i = 0; i < recordings.size(); ++i)
      for (const Comm& comm : recordings[i].comms) members_[comm.group][comm.member] = i;
    for (size_t i = 0; i < recordings.size(); ++i) edges_.push_back(edgesOf(i));
  }

  bool waits(size_t rank) const { return waits_[rank] != nullptr; }
  const Event& wait(size_t rank) const { return *waits_[rank]; }
  const std::vector<size_t>& edges(size_t rank) const { return edges_[rank]; }
  const std::set<std::string>& missing() const { return missing_; }

  // The first circle that is found from the ranks in their order; empty: there is none.
  std::vector<size_t> circle() const {
    std::vector<int> state(recordings_.size(), kNew);
    for (size_t rank = 0; rank < recordings_.size(); ++rank) {
      // The way from `rank` to where the search stands, each with its next edge.
      std::vector<std::pair<size_t, size_t>> way;
      if (state[rank] == kNew) way.emplace_back(rank, 0), state[rank] = kOnWay;
      while (!way.empty()) {
        const size_t at = way.back().first;
        if (way.back().second == edges_[at].size()) {
          state[at] = kDone;
          way.pop_back();
          continue;
        }
        const size_t next = edges_[at][way.back().second++];
        if (state[next] == kNew) way.emplace_back(next, 0), state[next] = kOnWay;
        else if (state[next] == kOnWay) return from(next, way);
      }
    }
    return {};
  }

 private:
  enum State { kNew, kOnWay, kDone };

  static std::vector<size_t> from(size_t first, const std::vector<std::pair<size_t, size_t>>& way) {
    std::vector<size_t> circle;
    for (const auto& [rank, edge] : way)
      if (rank == first || !circle.empty()) circle.push_back(rank);
    return circle;
  }

  // How many operations a rank has begun of the channel that answers to that of another.
  uint64_t started(size_t rank, const std::string& group, Channel::Kind kind, int peer) const {
    for (const Channel& channel : recordings_[rank].channels) {
      const Comm* comm = recordings_[rank].comm(channel);
      const bool meant = comm != nullptr && comm->group == group && channel.kind == kind;
      if (meant && (kind == Channel::Kind::kGroup || channel.peer == peer)) return channel.started;
    }
    return 0;
  }

  // Whom a rank waits for: of a collective the members that have not come to it, of a send or
  // receive the peer, of a request the servers, of a server its clients. Nobody where its last
  // event has ended.
  std::vector<size_t> edgesOf(size_t rank) {
    if (!waits(rank)) return {};
    const Event& event = wait(rank);
    const Channel& channel = recordings_[rank].channels[event.channel];
    const Comm* comm = recordings_[rank].comm(channel);
    if (comm == nullptr) return {};
    switch (channel.kind) {
      case Channel::Kind::kGroup: return members(rank, *comm, event);
      case Channel::Kind::kTo: return peer(*comm, channel.peer, Channel::Kind::kFrom, event);
      case Channel::Kind::kFrom: return peer(*comm, channel.peer, Channel::Kind::kTo, event);
      case Channel::Kind::kServers: return servers(comm->role);
      case Channel::Kind::kClients: return clients(comm->role);
    }
    return {};
  }

  std::vector<size_t> members(size_t rank, const Comm& comm, const Event& event) {
    std::vector<size_t> late, idle;
    for (int member = 0; member < comm.size; ++member) {
      const std::optional<size_t> other = at(comm, member);
      if (!other || *other == rank) continue;
      if (started(*other, comm.group, Channel::Kind::kGroup, 0) <= event.sequence)
        late.push_back(*other);
      else if (!waits(*other)) idle.push_back(*other);
    }
    return late.empty() ? idle : late;
  }

  std::vector<size_t> peer(const Comm& comm, int member, Channel::Kind kind, const Event& event) {
    const std::optional<size_t> other = at(comm, member);
    if (!other) return {};
    const bool late = started(*other, comm.group, kind, comm.member) <= event.sequence;
    return late || !waits(*other) ? std::vector<size_t>{*other} : std::vector<size_t>();
  }

  // A server that answers nobody waits itself, for requests that have not come: those of clients
  // that wait for no server.
  std::vector<size_t> servers(const std::string& role) const {
    std::vector<size_t> busy, waiting;
    for (size_t i = 0; i < recordings_.size(); ++i)
      if (recordings_[i].role == role) (waits(i) ? waiting : busy).push_back(i);
    return busy.empty() ? waiting : busy;
  }
  std::vector<size_t> clients(const std::string& role) const {
    std::vector<size_t> found;
    for (size_t i = 0; i < recordings_.size(); ++i) {
      if (recordings_[i].role != role) continue;
      const bool asks =
          waits(i) && recordings_[i].channels[wait(i).channel].kind == Channel::Kind::kServers;
      if (!asks) found.push_back(i);
    }
    return found;
  }

  std::optional<size_t> at(const Comm& comm, int member) {
    const auto& group = members_[comm.group];
    const auto found = group.find(member);
    if (found != group.end()) return found->second;
    missing_.insert(absl::StrCat("member ", member, " of communicator '", comm.name, "'"));
    return std::nullopt;
  }

  const std::vector<Recording>& recordings_;
  std::vector<const Event*> waits_;
  std::map<std::string, std::map<int, size_t>> members_;
  std::vector<std::vector<size_t>> edges_;
  std::set<std::string> missing_;
};

// Collectives of one communicator that ranks of one role call differently, as far as their rings
// reach back. Ranks of different roles run different programs, whose ops have other names.
std::vector<Mismatch> MismatchesOf(const std::vector<Recording>& recordings) {
  struct Seen {
    size_t rank;
    const std::string* op;
  };
  std::map<std::pair<std::string, std::string>, std::map<uint64_t, Seen>> first;
  std::map<std::string, Mismatch> found;  // by group, the earliest
  for (size_t rank = 0; rank < recordings.size(); ++rank) {
    const Recording& one = recordings[rank];
    for (const Event& event : one.events) {
      const Channel& channel = one.channels[event.channel];
      const Comm* comm = one.comm(channel);
      if (channel.kind != Channel::Kind::kGroup || comm == nullptr) continue;
      const std::string& op = one.ops[event.op];
      const auto [at, added] =
          first[{comm->group, one.class_name}].try_emplace(event.sequence, Seen{rank, &op});
      if (added || *at->second.op == op) continue;
      const auto known = found.find(comm->group);
      if (known != found.end() && known->second.sequence <= event.sequence) continue;
      found[comm->group] = {at->second.rank, rank, comm->name, *at->second.op, op, event.sequence};
    }
  }
  std::vector<Mismatch> mismatches;
  for (auto& [group, mismatch] : found) mismatches.push_back(std::move(mismatch));
  return mismatches;
}

}  // namespace

// Why a job hangs, from the recordings of its ranks: (1) operations that two members of a group
// number alike and call differently; (2) ranks that others wait for and that wait for nobody: they
// stopped; (3) if there are none, a circle of ranks that wait for each other.
Divergence DivergenceOf(const std::vector<Recording>& recordings) {
  Divergence result;
  result.mismatches = MismatchesOf(recordings);
  const WaitGraph graph(recordings);
  std::map<size_t, Stopped> stopped;
  for (size_t rank = 0; rank < recordings.size(); ++rank)
    for (size_t other : graph.edges(rank)) {
      if (graph.waits(other)) continue;
      Stopped& one = stopped[other];
      if (one.waiting.empty())
        one = {other, EventsOf(recordings[other]), recordings[rank].ops[graph.wait(rank).op], {}};
      one.waiting.push_back(rank);
    }
  for (auto& [rank, one] : stopped) result.stopped.push_back(std::move(one));
  if (result.stopped.empty()) result.circle = graph.circle();
  result.missing.assign(graph.missing().begin(), graph.missing().end());
  return result;
}

// One line for each finding, the likeliest cause first.
std::vector<std::string> LinesOf(const Divergence& divergence,
                                 const std::vector<Recording>& recordings) {
  std::vector<std::string> lines;
  for (const Mismatch& one : divergence.mismatches)
    lines.push_back(absl::StrCat("operation ", one.sequence, " of communicator '", one.comm,
                                 "' is ", one.left_op, " on ", recordings[one.left].name(), ", ",
                                 one.right_op, " on ", recordings[one.right].name()));
  for (const Stopped& one : divergence.stopped) {
    const Recording& rank = recordings[one.rank];
    std::string line =
        absl::StrCat(rank.name(), " stopped before event ", one.before, ": ", one.op);
    if (!rank.events.empty()) {
      const Event& last = rank.events.back();
      absl::StrAppend(&line, "; its last one, in step ", last.step, ", was ", rank.ops[last.op],
                      last.end_ns != 0 ? "" : ", which it had not waited for");
    }
    absl::StrAppend(&line, "; ", NamesOf(one.waiting, recordings),
                    one.waiting.size() == 1 ? " waits for it" : " wait for it");
    lines.push_back(std::move(line));
  }
  if (!divergence.circle.empty()) {
    std::vector<std::string> steps;
    for (size_t rank : divergence.circle) {
      const Recording& one = recordings[rank];
      steps.push_back(absl::StrCat(one.name(), " in ", one.ops[WaitOf(one)->op]));
    }
    lines.push_back(absl::StrCat("each waits for the next and the last for the first: ",
                                 absl::StrJoin(steps, ", ")));
  }
  if (!divergence.missing.empty())
    lines.push_back(absl::StrCat("waited for, and without a recording: ",
                                 absl::StrJoin(divergence.missing, ", ")));
  return lines;
}

Json JsonOf(const Divergence& divergence, const std::vector<Recording>& recordings) {
  const auto name = [&](size_t rank) {
    return Json{{"role", recordings[rank].role}, {"rank", recordings[rank].rank}};
  };
  const auto names = [&](const std::vector<size_t>& ranks) {
    Json list = Json::array();
    for (size_t rank : ranks) list.push_back(name(rank));
    return list;
  };
  Json stopped = Json::array(), mismatches = Json::array();
  for (const Stopped& one : divergence.stopped) {
    Json entry = name(one.rank);
    entry["before"] = one.before;
    entry["op"] = one.op;
    entry["waiting"] = names(one.waiting);
    stopped.push_back(std::move(entry));
  }
  for (const Mismatch& one : divergence.mismatches)
    mismatches.push_back({{"communicator", one.comm},
                          {"operation", one.sequence},
                          {"ranks", names({one.left, one.right})},
                          {"ops", {one.left_op, one.right_op}}});
  return {{"mismatches", mismatches},
          {"stopped", stopped},
          {"circle", names(divergence.circle)},
          {"missing", divergence.missing}};
}

}  // namespace dtranspile::flight
