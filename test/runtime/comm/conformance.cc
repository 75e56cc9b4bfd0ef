// Results: every kind, type, size, list, concurrency. Failures are in conformance_failures.cc.
#include "test/runtime/comm/conformance.h"

#include <catch2/catch.hpp>
#include <numeric>
#include <random>
#include <thread>

#include "test/runtime/comm/conformance_failures.h"
#include "test/runtime/comm/conformance_jobs.h"
#include "test/runtime/comm/processes.h"
#include "test/runtime/comm/reference.h"

namespace dtranspile::comm::test {
namespace {

constexpr DType kTypes[] = {DType::kBool,    DType::kInt8,      DType::kInt16,     DType::kInt32,
                            DType::kInt64,   DType::kUInt8,     DType::kUInt32,    DType::kUInt64,
                            DType::kSizeT,   DType::kFloat16,   DType::kBFloat16,  DType::kFloat32,
                            DType::kFloat64, DType::kComplex64, DType::kComplex128};
constexpr Kind kCollectives[] = {Kind::kAllReduce, Kind::kReduce,        Kind::kBroadcast,
                                 Kind::kAllGather, Kind::kReduceScatter, Kind::kAllToAll,
                                 Kind::kSend};

bool HasReduce(Kind kind) {
  return kind == Kind::kAllReduce || kind == Kind::kReduce || kind == Kind::kReduceScatter;
}

bool Defined(DType dtype, ReduceOp reduce) {
  const bool complex = dtype == DType::kComplex64 || dtype == DType::kComplex128;
  const bool floating = complex || dtype == DType::kFloat16 || dtype == DType::kBFloat16 ||
                        dtype == DType::kFloat32 || dtype == DType::kFloat64;
  if (reduce == ReduceOp::kOr) return !floating;
  return !complex || reduce == ReduceOp::kSum || reduce == ReduceOp::kProd;
}

// Runs body(communicator) on 1, 2, 3 and 4 ranks.
void OnRanks(const BackEnd& back_end, const std::function<std::string(Communicator&)>& body,
             double seconds = 120) {
  for (int ranks = 1; ranks <= 4; ++ranks) {
    const Rendezvous rendezvous = back_end.rendezvous();
    RequireRanks(
        ranks,
        [&](int rank) -> std::string {
          auto comm = back_end.join(rendezvous, "world", rank, ranks);
          return comm.ok() ? body(**comm) : comm.status().ToString();
        },
        seconds);
  }
}

std::string RunTrials(Communicator& comm, const std::vector<Trial>& trials) {
  for (const Trial& trial : trials) {
    if (trial.kind == Kind::kSend && comm.size() == 1) continue;
    Trial rooted = trial;
    rooted.root = trial.root % comm.size();
    if (std::string wrong = RunTrial(comm, rooted); !wrong.empty()) return wrong;
  }
  return "";
}

void EveryKindTypeAndSize(const BackEnd& back_end) {
  std::vector<Trial> trials;
  for (const Kind kind : kCollectives) {
    for (const DType dtype : kTypes) {
      for (const int64_t count : {0, 1, 7, 1000}) {
        Trial trial;
        trial.kind = kind;
        trial.dtype = dtype;
        trial.counts = {count};
        trial.seed = static_cast<int>(trials.size());
        trial.root = trial.seed;
        trials.push_back(trial);
      }
    }
  }
  OnRanks(back_end, [&](Communicator& comm) { return RunTrials(comm, trials); });
}

void EveryReduction(const BackEnd& back_end) {
  std::vector<Trial> trials;
  for (const Kind kind : {Kind::kAllReduce, Kind::kReduce, Kind::kReduceScatter}) {
    for (const DType dtype : kTypes) {
      for (const ReduceOp reduce :
           {ReduceOp::kSum, ReduceOp::kMax, ReduceOp::kMin, ReduceOp::kProd, ReduceOp::kOr}) {
        if (!Defined(dtype, reduce)) continue;
        Trial trial;
        trial.kind = kind;
        trial.dtype = dtype;
        trial.reduce = reduce;
        trial.counts = {37};
        trial.seed = static_cast<int>(trials.size());
        trials.push_back(trial);
      }
    }
  }
  OnRanks(back_end, [&](Communicator& comm) { return RunTrials(comm, trials); });
}

// More than a segment or staging buffer holds, and not a multiple of anything.
void Large(const BackEnd& back_end) {
  constexpr DType kWidths[] = {DType::kFloat32, DType::kInt16, DType::kComplex128};
  std::vector<Trial> trials;
  for (const Kind kind : kCollectives) {
    Trial trial;
    trial.kind = kind;
    trial.dtype = kWidths[trials.size() % 3];
    trial.counts = {back_end.large / static_cast<int64_t>(SizeOf(trial.dtype)) + 13};
    trial.seed = static_cast<int>(trials.size());
    trial.root = trial.seed;
    trials.push_back(trial);
  }
  OnRanks(back_end, [&](Communicator& comm) { return RunTrials(comm, trials); });
}

void ListsOfPieces(const BackEnd& back_end) {
  std::vector<Trial> trials;
  const int64_t large = back_end.large / 4;
  for (const Kind kind : kCollectives) {
    for (const std::vector<int64_t>& counts :
         std::vector<std::vector<int64_t>>{{},
                                           {0, 0},
                                           {3, 0, 5, 1},
                                           {200, 1, 900, 77},
                                           {large / 4 + 1, 3, large / 2 + 5, 0, 9}}) {
      Trial trial;
      trial.kind = kind;
      trial.counts = counts;
      trial.seed = static_cast<int>(trials.size());
      trial.root = 1;
      trials.push_back(trial);
      trial.in_place = true;
      if (kind == Kind::kAllReduce) trials.push_back(trial);
    }
  }
  OnRanks(back_end, [&](Communicator& comm) { return RunTrials(comm, trials); });
}

// Buffers that ranks of one host may reach directly: at equal offsets, at different ones, in place
// and not, in pieces.
void SharedBuffers(const BackEnd& back_end) {
  std::vector<Trial> trials;
  const int64_t large = back_end.large / 4;
  for (const DType dtype : {DType::kFloat32, DType::kBFloat16, DType::kComplex128, DType::kInt8}) {
    for (const std::vector<int64_t>& counts : std::vector<std::vector<int64_t>>{
             {large / 4 + 13}, {3, 0, 5000, 1}, {9000, 1, 70001, 7}}) {
      for (int variant = 0; variant < 8; ++variant) {
        Trial trial;
        trial.dtype = dtype;
        trial.counts = counts;
        trial.in_place = variant & 1;
        trial.skewed = variant & 2;
        trial.shared = true;
        trial.reduce = variant & 4 && dtype != DType::kComplex128 ? ReduceOp::kMax : ReduceOp::kSum;
        trial.fractions = dtype == DType::kFloat32 && trial.reduce == ReduceOp::kSum;
        trial.seed = static_cast<int>(trials.size());
        trials.push_back(trial);
      }
    }
  }
  OnRanks(back_end, [&](Communicator& comm) { return RunTrials(comm, trials); });
}

// Sums of floats depend on the order; the reference has the order of the ranks, so equal bits here
// mean equal bits on all ranks.
void OrderOfSums(const BackEnd& back_end) {
  std::vector<Trial> trials;
  for (const Kind kind : kCollectives) {
    if (!HasReduce(kind)) continue;
    for (const DType dtype :
         {DType::kFloat16, DType::kBFloat16, DType::kFloat32, DType::kFloat64}) {
      for (const int64_t count : std::vector<int64_t>{9, 5000, back_end.large / 3}) {
        if (count > 5000 && dtype != DType::kFloat32) continue;
        Trial trial;
        trial.kind = kind;
        trial.dtype = dtype;
        trial.counts = {count};
        trial.fractions = true;
        trial.seed = static_cast<int>(trials.size());
        trials.push_back(trial);
      }
    }
  }
  OnRanks(back_end, [&](Communicator& comm) { return RunTrials(comm, trials); });
}

void Barrier(const BackEnd& back_end) {
  OnRanks(back_end, [](Communicator& comm) -> std::string {
    for (int i = 0; i < 20; ++i) {
      Request request;
      request.label = "barrier";
      if (absl::Status status = comm.Run(request); !status.ok()) return status.ToString();
    }
    return "";
  });
}

void ThousandSmallOnes(const BackEnd& back_end) {
  OnRanks(back_end, [](Communicator& comm) -> std::string {
    for (int i = 0; i < 1000; ++i) {
      float value = static_cast<float>(comm.rank() + i);
      Request request;
      request.kind = Kind::kAllReduce;
      request.inputs = request.outputs = {{&value, 1}};
      if (absl::Status status = comm.Run(request); !status.ok()) return status.ToString();
      const int n = comm.size();
      if (value != static_cast<float>(n * i + n * (n - 1) / 2))
        return "wrong sum in turn " + std::to_string(i);
    }
    return "";
  });
}

// Many operations in flight on one communicator, waited for in another order than started.
void ManyInFlight(const BackEnd& back_end) {
  OnRanks(back_end, [](Communicator& comm) -> std::string {
    constexpr int kCount = 60;
    std::vector<std::unique_ptr<TrialRun>> runs;
    std::vector<Ticket> tickets;
    for (int i = 0; i < kCount; ++i) {
      Trial trial;
      trial.kind = i % 3 == 0 ? Kind::kAllGather : i % 3 == 1 ? Kind::kAllReduce : Kind::kBroadcast;
      trial.counts = {1 + 700 * i};
      trial.seed = i;
      runs.push_back(std::make_unique<TrialRun>(trial, comm.rank(), comm.size()));
      absl::StatusOr<Ticket> ticket = comm.Start(runs.back()->MakeRequest());
      if (!ticket.ok()) return ticket.status().ToString();
      tickets.push_back(*ticket);
    }
    std::vector<int> order(kCount);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(comm.rank()));
    for (const int i : order) {
      if (absl::Status status = comm.Wait(tickets[i]); !status.ok()) return status.ToString();
      if (std::string wrong = runs[i]->Check(); !wrong.empty()) return wrong;
    }
    return comm.Wait(tickets[0]).ok() ? "a ticket can be waited for twice" : "";
  });
}

// Four communicators; every rank starts their operations in an order of its own, and waits in
// another one.
void SeveralCommunicators(const BackEnd& back_end) {
  constexpr int kComms = 4, kEach = 8;
  for (int ranks = 2; ranks <= 4; ++ranks) {
    const Rendezvous rendezvous = back_end.rendezvous();
    RequireRanks(ranks, [&](int rank) -> std::string {
      std::vector<std::unique_ptr<Communicator>> comms;
      for (int c = 0; c < kComms; ++c) {
        auto comm = back_end.join(rendezvous, "ring." + std::to_string(c), rank, ranks);
        if (!comm.ok()) return comm.status().ToString();
        comms.push_back(*std::move(comm));
      }
      std::mt19937 random(rank + 17);
      struct Open {
        int comm;
        Ticket ticket;
        std::unique_ptr<TrialRun> run;
      };
      std::vector<Open> open;
      std::vector<int> started(kComms, 0);
      while (static_cast<int>(open.size()) < kComms * kEach) {
        const int c = static_cast<int>(random() % kComms);
        if (started[c] == kEach) continue;
        Trial trial;
        trial.kind = kCollectives[(c + started[c]) % 6];
        trial.counts = {started[c] % 2 == 0 ? 20 : 60000};
        trial.seed = c * 100 + started[c]++;
        auto run = std::make_unique<TrialRun>(trial, rank, ranks);
        absl::StatusOr<Ticket> ticket = comms[c]->Start(run->MakeRequest());
        if (!ticket.ok()) return ticket.status().ToString();
        open.push_back({c, *ticket, std::move(run)});
      }
      std::shuffle(open.begin(), open.end(), random);
      for (Open& one : open) {
        if (absl::Status status = comms[one.comm]->Wait(one.ticket); !status.ok())
          return status.ToString();
        if (std::string wrong = one.run->Check(); !wrong.empty()) return wrong;
      }
      return "";
    });
  }
}

// Both ends send before they receive, larger than any buffer, with a collective between.
void TransfersBothWays(const BackEnd& back_end) {
  const Rendezvous rendezvous = back_end.rendezvous();
  RequireRanks(2, [&](int rank) -> std::string {
    auto comm = back_end.join(rendezvous, "world", rank, 2);
    if (!comm.ok()) return comm.status().ToString();
    Trial trial;
    trial.kind = Kind::kSend;
    trial.counts = {2 * back_end.large};
    trial.dtype = DType::kInt8;
    TrialRun send(trial, rank, 2);
    trial.kind = Kind::kRecv;
    TrialRun receive(trial, rank, 2);
    absl::StatusOr<Ticket> sent = (*comm)->Start(send.MakeRequest());
    if (!sent.ok()) return sent.status().ToString();
    Trial collective;
    collective.counts = {100000};
    if (std::string wrong = RunTrial(**comm, collective); !wrong.empty()) return wrong;
    if (absl::Status status = (*comm)->Run(receive.MakeRequest()); !status.ok())
      return status.ToString();
    if (absl::Status status = (*comm)->Wait(*sent); !status.ok()) return status.ToString();
    return send.Check() + receive.Check();
  });
}

void CountsBytes(const BackEnd& back_end) {
  const Rendezvous rendezvous = back_end.rendezvous();
  RequireRanks(2, [&](int rank) -> std::string {
    auto comm = back_end.join(rendezvous, "world", rank, 2);
    if (!comm.ok()) return comm.status().ToString();
    Trial trial;
    trial.counts = {1 << 20};
    if (std::string wrong = RunTrial(**comm, trial); !wrong.empty()) return wrong;
    // Half of the floats go out for reduction and half come back as results, on each of the two.
    if ((*comm)->bytes_sent() != 4 << 20 || (*comm)->bytes_received() != 4 << 20) {
      return "sent " + std::to_string((*comm)->bytes_sent()) + ", received " +
             std::to_string((*comm)->bytes_received());
    }
    return "";
  });
}

// A rank that has started and computes for longer than the deadline is not late: its thread takes
// part.
void ComputesBetweenStartAndWait(const BackEnd& back_end) {
  Rendezvous rendezvous = back_end.rendezvous();
  RequireRanks(2, [&, rendezvous](int rank) mutable -> std::string {
    auto comm = back_end.join(rendezvous, "world", rank, 2);
    if (!comm.ok()) return comm.status().ToString();
    rendezvous.timeout_seconds = 0.4;
    auto quick = back_end.join(rendezvous, "quick", rank, 2);
    if (!quick.ok()) return quick.status().ToString();
    Trial trial;
    TrialRun run(trial, rank, 2);
    absl::StatusOr<Ticket> ticket = (*quick)->Start(run.MakeRequest());
    if (!ticket.ok()) return ticket.status().ToString();
    std::this_thread::sleep_for(std::chrono::milliseconds(rank == 0 ? 1000 : 0));
    if (absl::Status status = (*quick)->Wait(*ticket); !status.ok()) return status.ToString();
    return run.Check();
  });
}

}  // namespace

const std::vector<ConformanceCase>& ConformanceCases() {
  static const std::vector<ConformanceCase> cases = [] {
    std::vector<ConformanceCase> all = {
        {"every kind, type and size", EveryKindTypeAndSize},
        {"every reduction", EveryReduction},
        {"larger than the buffers", Large},
        {"lists of pieces", ListsOfPieces},
        {"the order of sums", OrderOfSums},
        {"barrier", Barrier},
        {"a thousand small ones", ThousandSmallOnes},
        {"many in flight", ManyInFlight},
        {"several communicators", SeveralCommunicators},
        {"transfers both ways", TransfersBothWays},
        {"buffers in shared memory", SharedBuffers},
        {"bytes are counted", CountsBytes},
        {"computing between start and wait", ComputesBetweenStartAndWait},
    };
    for (const ConformanceCase& one : JobCases()) all.push_back(one);
    for (const ConformanceCase& one : FailureCases()) all.push_back(one);
    return all;
  }();
  return cases;
}

}  // namespace dtranspile::comm::test
