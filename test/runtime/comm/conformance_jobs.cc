#include "test/runtime/comm/conformance_jobs.h"

#include <algorithm>
#include <string>

#include "test/runtime/comm/processes.h"
#include "test/runtime/comm/reference.h"

namespace dtranspile::comm::test {
namespace {

constexpr int kMicros = 8;

// Of micro-batch `micro` between two stages, forwards or backwards.
float Element(int micro, int from, int to, int64_t i) {
  return static_cast<float>(1000 * micro + 100 * from + 10 * to + i % 7);
}

// A stage's transfers in the order of its schedule: receives block, sends are left open until the
// end, as many as there are micro-batches.
class Stage {
 public:
  Stage(Communicator& comm, int64_t count) : comm_(comm), count_(count) {}

  // Hands what `from` gave for this micro-batch on to `to`; -1: the end of the pipeline.
  absl::Status Run(int micro, int from, int to) {
    std::vector<float> room(static_cast<size_t>(count_), -1);
    if (from >= 0) {
      Request request;
      request.kind = Kind::kRecv;
      request.peer = from;
      request.label = "recv " + std::to_string(micro);
      request.outputs = {{room.data(), count_}};
      if (absl::Status status = comm_.Run(std::move(request)); !status.ok()) return status;
      for (int64_t i = 0; i < count_; ++i)
        if (room[static_cast<size_t>(i)] != Element(micro, from, comm_.rank(), i))
          return absl::DataLossError("wrong element in micro-batch " + std::to_string(micro));
    }
    if (to < 0) return absl::OkStatus();
    std::vector<float>& data = sent_.emplace_back(static_cast<size_t>(count_));
    for (int64_t i = 0; i < count_; ++i)
      data[static_cast<size_t>(i)] = Element(micro, comm_.rank(), to, i);
    Request request;
    request.kind = Kind::kSend;
    request.peer = to;
    request.label = "send " + std::to_string(micro);
    request.inputs = {{data.data(), count_}};
    absl::StatusOr<Ticket> ticket = comm_.Start(std::move(request));
    if (ticket.ok()) tickets_.push_back(*ticket);
    return ticket.status();
  }

  absl::Status Finish() {
    for (const Ticket ticket : tickets_)
      if (absl::Status status = comm_.Wait(ticket); !status.ok()) return status;
    return absl::OkStatus();
  }

  // What is sent stays where it is.
  void Reserve(size_t sends) { sent_.reserve(sends); }

 private:
  Communicator& comm_;
  const int64_t count_;
  std::vector<std::vector<float>> sent_;
  std::vector<Ticket> tickets_;
};

// (task, micro-batch): 0 forwards, 1 backwards.
std::vector<std::pair<int, int>> OrderOf(int stage, int stages, bool interleaves) {
  std::vector<std::pair<int, int>> order;
  const int warm = interleaves ? std::min(stages - stage - 1, kMicros) : kMicros;
  int f = 0, b = 0;
  while (f < warm) order.emplace_back(0, f++);
  while (f < kMicros) order.emplace_back(0, f++), order.emplace_back(1, b++);
  while (b < kMicros) order.emplace_back(1, b++);
  return order;
}

void Pipelines(const BackEnd& back_end) {
  for (const bool interleaves : {false, true})
    for (int stages = 2; stages <= 4; ++stages) {
      const Rendezvous rendezvous = back_end.rendezvous();
      RequireRanks(stages, [&](int rank) -> std::string {
        auto comm = back_end.join(rendezvous, "stages", rank, stages);
        if (!comm.ok()) return comm.status().ToString();
        // Small ones, and larger than the buffers.
        for (const int64_t count : std::vector<int64_t>{3, back_end.large / 4 + 5}) {
          Stage stage(**comm, count);
          stage.Reserve(2 * kMicros);
          const int up = rank + 1 < stages ? rank + 1 : -1, down = rank - 1;
          for (const auto& [task, micro] : OrderOf(rank, stages, interleaves)) {
            const absl::Status status =
                task == 0 ? stage.Run(micro, down, up) : stage.Run(micro + kMicros, up, down);
            if (!status.ok()) return status.ToString();
          }
          if (absl::Status status = stage.Finish(); !status.ok()) return status.ToString();
        }
        return "";
      });
    }
}

constexpr Kind kKinds[] = {Kind::kAllReduce, Kind::kReduce, Kind::kBroadcast,     Kind::kAllGather,
                           Kind::kAllToAll,  Kind::kSend,   Kind::kReduceScatter, Kind::kBarrier};

// By the definition of the operation.
std::string RunKind(Communicator& comm, Kind kind, int64_t count) {
  if (kind == Kind::kBarrier) {
    Request request;
    request.label = "barrier";
    const absl::Status status = comm.Run(std::move(request));
    return status.ok() ? "" : status.ToString();
  }
  if (kind == Kind::kSend && comm.size() == 1) return "";
  Trial trial;
  trial.kind = kind;
  trial.counts = {count, 0, 3};
  trial.root = comm.size() - 1;
  trial.seed = static_cast<int>(kind);
  return RunTrial(comm, trial);
}

struct Sum {
  std::unique_ptr<Communicator> comm;
  std::vector<float> data;
  float expected = 0;
  Ticket ticket = 0;
};

// Groups of a part of the ranks, beside one of all: they overlap, and each rank starts in an order
// of its own.
void Subsets(const BackEnd& back_end) {
  const std::vector<std::vector<int>> groups = {{0, 1, 2, 3}, {0, 2}, {1, 2, 3}, {3}};
  const Rendezvous rendezvous = back_end.rendezvous();
  RequireRanks(4, [&](int rank) -> std::string {
    std::vector<Sum> sums;
    for (size_t g = 0; g < groups.size(); ++g) {
      const auto at = std::find(groups[g].begin(), groups[g].end(), rank);
      if (at == groups[g].end()) continue;
      auto comm = back_end.join(rendezvous, "group." + std::to_string(g),
                                static_cast<int>(at - groups[g].begin()),
                                static_cast<int>(groups[g].size()));
      if (!comm.ok()) return comm.status().ToString();
      Sum& sum = sums.emplace_back();
      sum.comm = *std::move(comm);
      sum.data.assign(70000, static_cast<float>(rank + 1));
      for (int member : groups[g]) sum.expected += static_cast<float>(member + 1);
    }
    // Every kind in every group, in one order on all ranks.
    for (const Sum& sum : sums)
      for (const Kind kind : kKinds)
        if (std::string wrong = RunKind(*sum.comm, kind, 1501); !wrong.empty()) return wrong;
    std::rotate(sums.begin(), sums.begin() + rank % static_cast<int>(sums.size()), sums.end());
    for (Sum& sum : sums) {
      Request request;
      request.kind = Kind::kAllReduce;
      request.inputs = request.outputs = {{sum.data.data(), static_cast<int64_t>(sum.data.size())}};
      absl::StatusOr<Ticket> ticket = sum.comm->Start(std::move(request));
      if (!ticket.ok()) return ticket.status().ToString();
      sum.ticket = *ticket;
    }
    std::reverse(sums.begin(), sums.end());
    for (Sum& sum : sums) {
      if (absl::Status status = sum.comm->Wait(sum.ticket); !status.ok()) return status.ToString();
      for (float value : sum.data)
        if (value != sum.expected)
          return "wrong sum in a group of " + std::to_string(sum.comm->size());
    }
    return "";
  });
}

// Parts of different sizes, of which one may be empty: counts first, then all parts as large as the
// largest (runtime/exec/value_collective.cc does so).
void UnevenParts(const BackEnd& back_end) {
  for (int ranks = 1; ranks <= 4; ++ranks) {
    const Rendezvous rendezvous = back_end.rendezvous();
    RequireRanks(ranks, [&](int rank) -> std::string {
      auto comm = back_end.join(rendezvous, "world", rank, ranks);
      if (!comm.ok()) return comm.status().ToString();
      for (int turn = 0; turn < 3; ++turn) {
        const auto count_of = [&](int one) {
          return static_cast<int64_t>((one + turn) % 3 * 1001);
        };
        int64_t own = count_of(rank);
        std::vector<int64_t> counts(static_cast<size_t>(ranks));
        Request first;
        first.kind = Kind::kAllGather;
        first.dtype = DType::kInt64;
        first.inputs = {{&own, 1}};
        first.outputs = {{counts.data(), ranks}};
        if (absl::Status status = (*comm)->Run(first); !status.ok()) return status.ToString();
        const int64_t most = *std::max_element(counts.begin(), counts.end());
        std::vector<float> part(static_cast<size_t>(most), 0);
        std::fill_n(part.begin(), own, static_cast<float>(rank + 1));
        std::vector<float> all(static_cast<size_t>(most * ranks));
        Request second;
        second.kind = Kind::kAllGather;
        second.inputs = {{part.data(), most}};
        second.outputs = {{all.data(), most * ranks}};
        if (absl::Status status = (*comm)->Run(second); !status.ok()) return status.ToString();
        for (int one = 0; one < ranks; ++one) {
          if (counts[static_cast<size_t>(one)] != count_of(one)) return "wrong count";
          for (int64_t i = 0; i < count_of(one); ++i)
            if (all[static_cast<size_t>(one * most + i)] != static_cast<float>(one + 1))
              return "wrong part of rank " + std::to_string(one);
        }
      }
      return "";
    });
  }
}

// Element i of what `from` has for `to`.
float Given(int from, int to, int64_t i) {
  return static_cast<float>(10000 * from + 1000 * to + i % 101);
}

// Every rank has another number of elements for every other one, also none: counts first, then all
// parts as large as the largest.
void UnevenExchange(const BackEnd& back_end) {
  for (int ranks = 1; ranks <= 4; ++ranks) {
    const Rendezvous rendezvous = back_end.rendezvous();
    RequireRanks(ranks, [&](int rank) -> std::string {
      auto comm = back_end.join(rendezvous, "world", rank, ranks);
      if (!comm.ok()) return comm.status().ToString();
      for (const int64_t unit : std::vector<int64_t>{7, back_end.large / 16 + 3}) {
        const auto count_of = [&](int from, int to) { return (2 * from + to) % 3 * unit; };
        std::vector<int64_t> own, arriving(static_cast<size_t>(ranks));
        for (int to = 0; to < ranks; ++to) own.push_back(count_of(rank, to));
        absl::Status status = (*comm)->Run({.kind = Kind::kAllToAll,
                                            .dtype = DType::kInt64,
                                            .inputs = {{own.data(), ranks}},
                                            .outputs = {{arriving.data(), ranks}},
                                            .label = "uneven"});
        if (!status.ok()) return status.ToString();
        int64_t most = *std::max_element(own.begin(), own.end());
        status = (*comm)->Run({.kind = Kind::kAllReduce,
                               .dtype = DType::kInt64,
                               .reduce = ReduceOp::kMax,
                               .inputs = {{&most, 1}},
                               .outputs = {{&most, 1}},
                               .label = "uneven"});
        if (!status.ok()) return status.ToString();
        std::vector<float> given(static_cast<size_t>(most * ranks), -1), taken = given;
        for (int to = 0; to < ranks; ++to)
          for (int64_t i = 0; i < own[static_cast<size_t>(to)]; ++i)
            given[static_cast<size_t>(to * most + i)] = Given(rank, to, i);
        status = (*comm)->Run({.kind = Kind::kAllToAll,
                               .inputs = {{given.data(), most * ranks}},
                               .outputs = {{taken.data(), most * ranks}},
                               .label = "uneven"});
        if (!status.ok()) return status.ToString();
        for (int from = 0; from < ranks; ++from) {
          if (arriving[static_cast<size_t>(from)] != count_of(from, rank)) return "wrong count";
          for (int64_t i = 0; i < most; ++i) {
            const float expected = i < count_of(from, rank) ? Given(from, rank, i) : -1;
            if (taken[static_cast<size_t>(from * most + i)] != expected)
              return "wrong element of rank " + std::to_string(from);
          }
        }
      }
      return "";
    });
  }
}

// An extent that the ranks do not divide: parts of n/N, rounded up, the last ones less or nothing
// but pad. Reduced to parts and gathered again it is the sum.
void IndivisibleExtents(const BackEnd& back_end) {
  for (int ranks = 1; ranks <= 4; ++ranks) {
    const Rendezvous rendezvous = back_end.rendezvous();
    RequireRanks(ranks, [&](int rank) -> std::string {
      auto comm = back_end.join(rendezvous, "world", rank, ranks);
      if (!comm.ok()) return comm.status().ToString();
      for (const int64_t extent : std::vector<int64_t>{1, 2, 5, 1003, back_end.large / 4 + 1}) {
        const int64_t part = (extent + ranks - 1) / ranks;
        std::vector<float> whole(static_cast<size_t>(part * ranks), 0), all = whole;
        for (int64_t i = 0; i < extent; ++i)
          whole[static_cast<size_t>(i)] = static_cast<float>((rank + 1) * (i % 91));
        std::vector<float> own(static_cast<size_t>(part), -1);
        absl::Status status = (*comm)->Run({.kind = Kind::kReduceScatter,
                                            .inputs = {{whole.data(), part * ranks}},
                                            .outputs = {{own.data(), part}},
                                            .label = "uneven"});
        if (status.ok())
          status = (*comm)->Run({.kind = Kind::kAllGather,
                                 .inputs = {{own.data(), part}},
                                 .outputs = {{all.data(), part * ranks}},
                                 .label = "uneven"});
        if (!status.ok()) return status.ToString();
        const int64_t shares = ranks * (ranks + 1) / 2;
        for (int64_t i = 0; i < part * ranks; ++i)
          if (all[static_cast<size_t>(i)] !=
              (i < extent ? static_cast<float>(shares * (i % 91)) : 0))
            return "wrong element " + std::to_string(i) + " of " + std::to_string(extent);
      }
      return "";
    });
  }
}

// From everybody to everybody at once, several per pair, each of another length and type, started
// in an order of each rank's own: first in, first out per ordered pair.
void EveryPair(const BackEnd& back_end) {
  constexpr int kEach = 3;
  for (int ranks = 2; ranks <= 4; ++ranks) {
    const Rendezvous rendezvous = back_end.rendezvous();
    RequireRanks(ranks, [&](int rank) -> std::string {
      auto comm = back_end.join(rendezvous, "pairs", rank, ranks);
      if (!comm.ok()) return comm.status().ToString();
      const auto count_of = [&](int from, int to, int turn) -> int64_t {
        return (from + 2 * to + turn) % 4 == 0 ? 0 : 1 + 4001 * ((from + to + turn) % 3);
      };
      struct Open {
        std::vector<double> data;
        int from, to, turn;
        Ticket ticket;
      };
      std::vector<Open> open;
      open.reserve(static_cast<size_t>(2 * kEach * ranks));
      for (int step = 1; step < ranks; ++step)
        for (int turn = 0; turn < kEach; ++turn)
          for (const bool sends : {rank % 2 == 0, rank % 2 != 0}) {
            const int peer = (rank + (rank % 2 == 0 ? step : ranks - step)) % ranks;
            Open& one = open.emplace_back();
            one.from = sends ? rank : peer, one.to = sends ? peer : rank, one.turn = turn;
            const int64_t count = count_of(one.from, one.to, turn);
            one.data.assign(static_cast<size_t>(count), -1);
            for (int64_t i = 0; sends && i < count; ++i)
              one.data[static_cast<size_t>(i)] = Given(one.from, one.to, i + turn);
            const Segment segment = {one.data.data(), count};
            Request request;
            request.kind = sends ? Kind::kSend : Kind::kRecv;
            request.dtype = turn == 1 ? DType::kInt64 : DType::kFloat64;
            request.peer = peer;
            (sends ? request.inputs : request.outputs) = {segment};
            absl::StatusOr<Ticket> ticket = (*comm)->Start(std::move(request));
            if (!ticket.ok()) return ticket.status().ToString();
            one.ticket = *ticket;
          }
      std::reverse(open.begin(), open.end());
      for (Open& one : open) {
        if (absl::Status status = (*comm)->Wait(one.ticket); !status.ok()) return status.ToString();
        for (int64_t i = 0; i < static_cast<int64_t>(one.data.size()); ++i)
          if (one.data[static_cast<size_t>(i)] != Given(one.from, one.to, i + one.turn))
            return "wrong element from " + std::to_string(one.from) + " to " +
                   std::to_string(one.to);
      }
      return "";
    });
  }
}

}  // namespace

const std::vector<ConformanceCase>& JobCases() {
  static const std::vector<ConformanceCase> cases = {
      {"pipelines", Pipelines},
      {"subsets of the ranks", Subsets},
      {"uneven parts", UnevenParts},
      {"an uneven exchange", UnevenExchange},
      {"extents without a divisor", IndivisibleExtents},
      {"every pair at once", EveryPair}};
  return cases;
}

}  // namespace dtranspile::comm::test
