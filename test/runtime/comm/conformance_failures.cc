#include "test/runtime/comm/conformance_failures.h"

#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <sstream>
#include <thread>

#include "test/runtime/comm/processes.h"
#include "test/runtime/comm/reference.h"

namespace dtranspile::comm::test {
namespace {

// Ranks report "<code> <seconds> <message>"; this takes it apart.
struct Report {
  int code = -1;
  double seconds = 0;
  std::string message;
};

std::string ToText(const absl::Status& status, double begin) {
  std::ostringstream text;
  text << static_cast<int>(status.code()) << " " << Now() - begin << " "
       << std::string(status.message());
  return text.str();
}

Report FromText(const std::string& text) {
  Report report;
  std::istringstream in(text);
  in >> report.code >> report.seconds;
  std::getline(in, report.message);
  return report;
}

Request AllReduceOf(std::vector<float>& values) {
  Request request;
  request.kind = Kind::kAllReduce;
  request.inputs = request.outputs = {{values.data(), static_cast<int64_t>(values.size())}};
  request.label = "0:31 sum";
  return request;
}

struct Failing {
  int ranks = 2;
  double timeout = 30;
  std::vector<int> lost;              // ranks that do not report
  double at_least = 0, at_most = 10;  // seconds until the others know
  std::vector<std::string> says;      // in every message
};

// Joins, runs body, and requires every rank that is not lost to come back with an error in time,
// and to fail at once after it.
std::vector<Report> RequireFailure(
    const BackEnd& back_end, const Failing& failing,
    const std::function<absl::Status(Communicator&, double& begin)>& body) {
  Rendezvous rendezvous = back_end.rendezvous();
  rendezvous.timeout_seconds = failing.timeout;
  const auto rank_main = [&](int rank) -> std::string {
    auto comm = back_end.join(rendezvous, "world", rank, failing.ranks);
    if (!comm.ok()) return ToText(comm.status(), Now());
    double begin = Now();
    const absl::Status status = body(**comm, begin);
    const std::string text = ToText(status, begin);
    std::vector<float> values(4);
    const double again = Now();
    if ((*comm)->Run(AllReduceOf(values)).ok()) return "a failed communicator goes on";
    if (Now() - again > 1) return "a failed communicator waits again";
    return text;
  };
  std::vector<Report> reports;
  const std::vector<Outcome> outcomes = RunRanks(failing.ranks, rank_main, failing.lost);
  for (int rank = 0; rank < failing.ranks; ++rank) {
    if (std::find(failing.lost.begin(), failing.lost.end(), rank) != failing.lost.end()) continue;
    INFO("rank " << rank << " of " << failing.ranks << ": " << outcomes[rank].text);
    CHECK_FALSE(outcomes[rank].late);
    CHECK(outcomes[rank].signal == 0);
    const Report report = FromText(outcomes[rank].text);
    CHECK(report.code > 0);
    CHECK(report.seconds >= failing.at_least);
    CHECK(report.seconds <= failing.at_most);
    for (const std::string& piece : failing.says)
      CHECK_THAT(report.message, Catch::Contains(piece));
    reports.push_back(report);
  }
  return reports;
}

void Mismatches(const BackEnd& back_end) {
  struct Row {
    const char* what;
    void (*change)(Request&);
  };
  static float memory[64];
  const Row rows[] = {
      {"the operation", [](Request& r) { r.kind = Kind::kBarrier; }},
      {"the operation",
       [](Request& r) { r.kind = Kind::kAllToAll, r.inputs = r.outputs = {{memory, 6}}; }},
      {"the element type", [](Request& r) { r.dtype = DType::kInt32; }},
      {"the element type", [](Request& r) { r.dtype = DType::kFloat64; }},
      {"the reduction", [](Request& r) { r.reduce = ReduceOp::kMax; }},
      {"the number of elements", [](Request& r) { r.inputs = r.outputs = {{memory, 7}}; }},
      {"the list of pieces",
       [](Request& r) { r.inputs = r.outputs = {{memory, 4}, {memory + 8, 2}}; }},
  };
  for (const int ranks : {2, 3}) {
    for (const Row& row : rows) {
      INFO(row.what);
      Failing failing;
      failing.ranks = ranks;
      failing.says = {"ranks differ in", row.what, "rank 1", "'odd'", "'even'"};
      RequireFailure(back_end, failing, [&](Communicator& comm, double&) {
        std::vector<float> values(12);  // room for six of a type that is twice as wide
        Request request = AllReduceOf(values);
        request.inputs = request.outputs = {{values.data(), 6}};
        request.label = "even";
        if (comm.rank() == 1) {
          row.change(request);
          request.label = "odd";
        }
        return comm.Run(request);
      });
    }
  }
}

void MismatchedRoot(const BackEnd& back_end) {
  Failing failing;
  failing.says = {"ranks differ in the root", "with root 0", "with root 1"};
  RequireFailure(back_end, failing, [&](Communicator& comm, double&) {
    float in[8] = {}, out[8] = {};
    Request request;
    request.kind = Kind::kBroadcast;
    request.peer = comm.rank();
    request.inputs = {{in, 8}};
    request.outputs = {{out, 8}};
    return comm.Run(request);
  });
}

void MismatchedTransfer(const BackEnd& back_end) {
  Failing failing;
  failing.says = {"ranks differ in the number of elements", "rank 0 started send of float32 x 5",
                  "x 6"};
  RequireFailure(back_end, failing, [&](Communicator& comm, double&) {
    float data[8] = {};
    Request request;
    request.kind = comm.rank() == 0 ? Kind::kSend : Kind::kRecv;
    request.peer = 1 - comm.rank();
    (comm.rank() == 0 ? request.inputs : request.outputs) = {{data, 5 + comm.rank()}};
    return comm.Run(request);
  });
}

// Dies while the others wait for it, small and large, with one and with more than one left.
void KilledRank(const BackEnd& back_end) {
  for (const int ranks : {2, 4}) {
    for (const size_t count : {size_t{4}, static_cast<size_t>(back_end.large)}) {
      Failing failing;
      failing.ranks = ranks;
      failing.lost = {1};
      failing.says = {"rank 1"};
      if (count == 4) failing.says.push_back("0:31 sum");
      RequireFailure(back_end, failing, [&](Communicator& comm, double& begin) {
        std::vector<float> values(count);
        for (int i = 0; i < 3; ++i) {
          if (absl::Status status = comm.Run(AllReduceOf(values)); !status.ok()) return status;
        }
        if (comm.rank() == 1) {
          usleep(100'000);
          kill(getpid(), SIGKILL);
        }
        begin = Now();
        return comm.Run(AllReduceOf(values));
      });
    }
  }
}

// Dies at any point of a stream of large operations.
void KilledWhileMoving(const BackEnd& back_end) {
  Failing failing;
  failing.ranks = 3;
  failing.lost = {2};
  failing.says = {"rank 2"};
  RequireFailure(back_end, failing, [&](Communicator& comm, double& begin) {
    if (comm.rank() == 2) {
      std::thread([] {
        usleep(150'000);
        kill(getpid(), SIGKILL);
      }).detach();
    }
    std::vector<float> values(back_end.large);
    while (true) {
      begin = Now();
      if (absl::Status status = comm.Run(AllReduceOf(values)); !status.ok()) return status;
    }
  });
}

void StoppedRank(const BackEnd& back_end) {
  Failing failing;
  failing.ranks = 3;
  failing.timeout = 1;
  failing.lost = {1};
  failing.at_least = 0.9;
  failing.at_most = 4;
  failing.says = {"rank 1"};
  RequireFailure(back_end, failing, [&](Communicator& comm, double& begin) {
    std::vector<float> values(10);
    if (absl::Status status = comm.Run(AllReduceOf(values)); !status.ok()) return status;
    if (comm.rank() == 1) kill(getpid(), SIGSTOP);
    begin = Now();
    return comm.Run(AllReduceOf(values));
  });
}

// The caller comes to Wait long after Start: the deadline counts from there.
void StoppedRankWaitedForLater(const BackEnd& back_end) {
  Failing failing;
  failing.timeout = 0.6;
  failing.lost = {1};
  failing.at_least = 0.5;
  failing.at_most = 4;
  failing.says = {"rank 1"};
  RequireFailure(back_end, failing, [&](Communicator& comm, double& begin) {
    std::vector<float> values(10);
    if (absl::Status status = comm.Run(AllReduceOf(values)); !status.ok()) return status;
    if (comm.rank() == 1) kill(getpid(), SIGSTOP);
    absl::StatusOr<Ticket> ticket = comm.Start(AllReduceOf(values));
    if (!ticket.ok()) return ticket.status();
    usleep(1'200'000);
    begin = Now();
    return comm.Wait(*ticket);
  });
}

// A rank that ends its work early and closes the communicator.
void RankThatLeaves(const BackEnd& back_end) {
  Rendezvous rendezvous = back_end.rendezvous();
  const std::vector<Outcome> outcomes = RunRanks(2, [&](int rank) -> std::string {
    auto comm = back_end.join(rendezvous, "world", rank, 2);
    if (!comm.ok()) return comm.status().ToString();
    std::vector<float> values(3);
    if (absl::Status status = (*comm)->Run(AllReduceOf(values)); !status.ok())
      return status.ToString();
    if (rank == 1) return "";
    const double begin = Now();
    return ToText((*comm)->Run(AllReduceOf(values)), begin);
  });
  INFO(outcomes[0].text);
  const Report report = FromText(outcomes[0].text);
  CHECK(report.code > 0);
  CHECK(report.seconds < 15);
  CHECK_THAT(report.message, Catch::Contains("rank 1"));
  CHECK(outcomes[1].text.empty());
}

void AbortEndsAllRanks(const BackEnd& back_end) {
  Failing failing;
  failing.ranks = 3;
  failing.says = {"the user said so"};
  RequireFailure(back_end, failing, [&](Communicator& comm, double& begin) {
    std::vector<float> values(5);
    if (absl::Status status = comm.Run(AllReduceOf(values)); !status.ok()) return status;
    std::thread aborter;
    if (comm.rank() == 2) {
      aborter = std::thread([&] {
        usleep(200'000);
        comm.Abort("the user said so");
      });
    }
    begin = Now();
    // Rank 2 waits in a transfer that nobody answers, the others for its collective.
    Request receive;
    receive.kind = Kind::kRecv;
    receive.outputs = {{values.data(), 5}};
    const absl::Status status = comm.Run(comm.rank() == 2 ? receive : AllReduceOf(values));
    if (aborter.joinable()) aborter.join();
    usleep(300'000);
    return status;
  });
}

// Closing with an operation under way that never ends: no hang, and the peer hears of it.
void ClosedWhilePending(const BackEnd& back_end) {
  Rendezvous rendezvous = back_end.rendezvous();
  const std::vector<Outcome> outcomes = RunRanks(2, [&](int rank) -> std::string {
    auto comm = back_end.join(rendezvous, "world", rank, 2);
    if (!comm.ok()) return comm.status().ToString();
    std::vector<float> values(3);
    if (rank == 1) {
      usleep(300'000);
      const double begin = Now();
      return ToText((*comm)->Run(AllReduceOf(values)), begin);
    }
    Request receive;
    receive.kind = Kind::kRecv;
    receive.peer = 1;
    receive.outputs = {{values.data(), 3}};
    if (absl::StatusOr<Ticket> ticket = (*comm)->Start(receive); !ticket.ok())
      return ticket.status().ToString();
    usleep(100'000);
    const double begin = Now();
    comm->reset();
    return Now() - begin < 5 ? "" : "closing took too long";
  });
  CHECK(outcomes[0].text.empty());
  CHECK_FALSE(outcomes[0].late);
  INFO(outcomes[1].text);
  CHECK(FromText(outcomes[1].text).code > 0);
  CHECK(FromText(outcomes[1].text).seconds < 5);
}

void MissingRankAtJoin(const BackEnd& back_end) {
  Rendezvous rendezvous = back_end.rendezvous();
  rendezvous.timeout_seconds = 1;
  const std::vector<Outcome> outcomes = RunRanks(2, [&](int rank) -> std::string {
    const double begin = Now();
    return ToText(back_end.join(rendezvous, "world", rank, 3).status(), begin);
  });
  for (const Outcome& outcome : outcomes) {
    INFO(outcome.text);
    const Report report = FromText(outcome.text);
    CHECK(report.code > 0);
    CHECK(report.seconds > 0.8);
    CHECK(report.seconds < 6);
    CHECK_THAT(report.message, Catch::Contains("rank 2"));
  }
}

void BadRequests(const BackEnd& back_end) {
  struct Row {
    const char* says;
    Request request;
  };
  static float memory[64];
  const Segment four = {memory, 4};
  const auto make = [](Kind kind, std::vector<Segment> inputs, std::vector<Segment> outputs) {
    Request request;
    request.kind = kind;
    request.inputs = std::move(inputs);
    request.outputs = std::move(outputs);
    request.peer = 1;
    request.label = "bad";
    return request;
  };
  std::vector<Row> rows = {
      {"0 outputs", make(Kind::kAllReduce, {four}, {})},
      {"4 elements, output 0 has 3", make(Kind::kAllReduce, {four}, {{memory, 3}})},
      {"with 2 ranks", make(Kind::kAllGather, {four}, {four})},
      {"with 2 ranks", make(Kind::kReduceScatter, {four}, {four})},
      {"do not divide", make(Kind::kAllToAll, {{memory, 3}}, {{memory, 3}})},
      {"has no memory", make(Kind::kAllReduce, {{nullptr, 4}}, {four})},
      {"out of range", make(Kind::kAllReduce, {{memory, -1}}, {{memory, -1}})},
      {"out of range", make(Kind::kAllReduce, {{memory, INT64_MAX}, {memory, INT64_MAX}},
                            {{memory, INT64_MAX}, {memory, INT64_MAX}})},
      {"rank 9 is not one of 2", make(Kind::kSend, {four}, {})},
      {"rank -1 is not one of 2", make(Kind::kBroadcast, {four}, {four})},
      {"element type 77 is unknown", make(Kind::kBroadcast, {four}, {four})},
      {"kind 99 is unknown", make(static_cast<Kind>(99), {}, {})},
      {"or is not defined for float32", make(Kind::kAllReduce, {four}, {four})},
  };
  rows[8].request.peer = 9;
  rows[9].request.peer = -1;
  rows[10].request.dtype = static_cast<DType>(77);
  rows[12].request.reduce = ReduceOp::kOr;
  Rendezvous rendezvous = back_end.rendezvous();
  const std::vector<Outcome> outcomes = RunRanks(2, [&](int rank) -> std::string {
    auto comm = back_end.join(rendezvous, "world", rank, 2);
    if (!comm.ok()) return comm.status().ToString();
    for (const Row& row : rows) {
      const absl::Status started = (*comm)->Start(row.request).status();
      const std::string message(started.message());
      if (!absl::IsInvalidArgument(started) || message.find(row.says) == std::string::npos ||
          message.find("'bad'") == std::string::npos) {
        return std::string("wants '") + row.says + "', got " + started.ToString();
      }
    }
    // A request refused here leaves the communicator usable.
    return RunTrial(**comm, Trial{});
  });
  for (const Outcome& outcome : outcomes) CHECK(outcome.text == "");
}

}  // namespace

std::vector<ConformanceCase> FailureCases() {
  return {
      {"mismatches", Mismatches},
      {"mismatched root", MismatchedRoot},
      {"mismatched transfer", MismatchedTransfer},
      {"killed rank", KilledRank},
      {"killed while moving", KilledWhileMoving},
      {"stopped rank", StoppedRank},
      {"stopped rank, waited for later", StoppedRankWaitedForLater},
      {"a rank that leaves", RankThatLeaves},
      {"abort ends all ranks", AbortEndsAllRanks},
      {"closed while pending", ClosedWhilePending},
      {"missing rank at join", MissingRankAtJoin},
      {"bad requests", BadRequests},
  };
}

}  // namespace dtranspile::comm::test
