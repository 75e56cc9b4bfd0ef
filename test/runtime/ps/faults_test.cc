// What goes wrong between trainers and servers: who is killed, stopped, late or a stranger.
// Everybody else ends in time with a message that names the one to blame, or goes on undisturbed.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <numeric>
#include <random>
#include <sstream>
#include <thread>

#include "runtime/base/status.h"
#include "runtime/comm/gloo/handshake.h"
#include "runtime/comm/gloo/store.h"
#include "runtime/comm/gloo/wire.h"
#include "runtime/comm/patience.h"
#include "runtime/ps/door.h"
#include "runtime/ps/settings.h"
#include "test/runtime/ps/job.h"

namespace dtranspile::ps::test {
namespace {

using comm::test::Now;
using exec::Merge;
using exec::Phase;

const std::vector<Variable>& Variables() {
  static const std::vector<Variable> list = {
      {"w", DType::kFloat32, {8, 2}, LayoutOf(exec::LayoutKind::kBlocks, {8, 2}, 0, 2)}};
  return list;
}

std::vector<std::vector<float>> Initial() { return {std::vector<float>(16, 1.0F)}; }

// Where a process does what it is told to.
enum class At { kBegin, kPushed, kPushesEnded, kPulled, kEnd };

// Rounds of a trainer; `disturb` is called at every place of every round.
using Disturb = std::function<void(int round, At at)>;

absl::Status Train(const ClientOptions& options, int rounds, const Disturb& disturb = nullptr) {
  const auto at = [&](int round, At place) {
    if (disturb) disturb(round, place);
  };
  DT_ASSIGN_OR_RETURN(const auto client, Client::Connect(options));
  const auto run = [&]() -> absl::Status {
    std::vector<float> values(16);
    float expected = 1.0F;
    for (int round = 0; round < rounds; ++round) {
      at(round, At::kBegin);
      std::fill(values.begin(), values.end(), static_cast<float>(options.rank));
      DT_RETURN_IF_ERROR(client->Push(
          Variables()[0].request(), Merge::kSum,
          {DType::kFloat32, {8, 2}, reinterpret_cast<const std::byte*>(values.data())}));
      at(round, At::kPushed);
      DT_RETURN_IF_ERROR(client->EndPhase("", Phase::kPush));
      at(round, At::kPushesEnded);
      DT_RETURN_IF_ERROR(
          client->Pull(Variables()[0].request(),
                       {DType::kFloat32, {8, 2}, reinterpret_cast<std::byte*>(values.data())}));
      at(round, At::kPulled);
      expected -= static_cast<float>(options.ranks * (options.ranks - 1) / 2);
      for (const float value : values)
        if (value != expected) return absl::InternalError("a wrong value");
      DT_RETURN_IF_ERROR(client->EndPhase("", Phase::kPull));
    }
    at(rounds, At::kEnd);
    return client->Leave();
  };
  const absl::Status status = run();
  if (!status.ok()) client->Abort(std::string(status.message()));
  return status;
}

// The same as Serve of job.h, with a word before every round.
absl::Status ServeDisturbed(const ServerOptions& options, const std::function<void(int)>& before) {
  Part part = PartOf(Variables()[0], Initial()[0], options.server, options.servers);
  DT_ASSIGN_OR_RETURN(const auto server, Server::Make(options));
  DT_RETURN_IF_ERROR(server->Open({part.table}, {}));
  const auto run = [&]() -> absl::Status {
    while (true) {
      DT_ASSIGN_OR_RETURN(const exec::Turn turn, server->Next());
      if (turn.kind == exec::Turn::Kind::kEnd) return absl::OkStatus();
      before(static_cast<int>(turn.round));
      std::vector<float> merged(part.values.size());
      DT_RETURN_IF_ERROR(server->Merged(
          "w", -1,
          {DType::kFloat32, part.table.dims, reinterpret_cast<std::byte*>(merged.data())}));
      for (size_t i = 0; i < merged.size(); ++i) part.values[i] -= merged[i];
      server->Finish(absl::OkStatus());
    }
  };
  const absl::Status status = run();
  if (!status.ok()) server->Abort(std::string(status.message()));
  return status;
}

std::string ServeText(const ServerOptions& options) {
  return Text(Serve(options, Variables(), Initial(), 1.0F));
}

// What the processes of a job that fails have to say.
struct Failure {
  std::vector<int> lost = {};         // processes that do not report: trainers, then servers
  double at_least = 0, at_most = 10;  // seconds
  std::vector<std::string> says;      // one of them stands in every message
};

void RequireFailure(const TestJob& job, const Failure& failure,
                    const std::function<std::string(int)>& trainer,
                    const std::function<std::string(int)>& server) {
  const double begin = Now();
  const auto outcomes = job.Run(trainer, server, failure.lost);
  const double took = Now() - begin;
  for (int i = 0; i < job.trainers + job.servers; ++i) {
    if (std::find(failure.lost.begin(), failure.lost.end(), i) != failure.lost.end()) continue;
    const auto& outcome = outcomes[static_cast<size_t>(i)];
    INFO("process " << i << ": " << outcome.text);
    CHECK_FALSE(outcome.late);
    CHECK(outcome.signal == 0);
    CHECK(!outcome.text.empty());
    bool said = false;
    for (const std::string& one : failure.says) said |= outcome.text.find(one) != std::string::npos;
    CHECK(said);
  }
  CHECK(took >= failure.at_least);
  CHECK(took <= failure.at_most);
}

Disturb Do(int round, At at, const std::function<void()>& what) {
  return [=](int r, At a) {
    if (r == round && a == at) what();
  };
}

void Die() { raise(SIGKILL); }
void Stop() { raise(SIGSTOP); }

constexpr At kPlaces[] = {At::kBegin, At::kPushed, At::kPushesEnded, At::kPulled};

}  // namespace

TEST_CASE("a trainer that is killed ends the job at once, wherever it is") {
  for (const At at : kPlaces) {
    const TestJob job{3, 2};
    RequireFailure(
        job, {.lost = {1}, .at_most = 5, .says = {"trainer 1 is dead, or gives no sign of life"}},
        [&](int rank) {
          return Text(Train(job.ClientOf(rank), 5, rank == 1 ? Do(2, at, Die) : nullptr));
        },
        [&](int rank) { return ServeText(job.ServerOf(rank)); });
  }
}

TEST_CASE("a trainer that is killed at its end, before it has left, is missed") {
  const TestJob job{2, 1};
  RequireFailure(
      job, {.lost = {1}, .at_most = 5, .says = {"trainer 1 is dead"}},
      [&](int rank) {
        return Text(
            Train(job.ClientOf(rank), 2,
                  rank == 1 ? Do(2, At::kEnd, Die) : Do(2, At::kEnd, [] { usleep(700'000); })));
      },
      [&](int rank) { return ServeText(job.ServerOf(rank)); });
}

TEST_CASE("a trainer that is stopped ends the job within the deadline") {
  for (const At at : kPlaces) {
    TestJob job{3, 2};
    job.timeout_seconds = 2;
    RequireFailure(
        job,
        {.lost = {1},
         .at_least = 0.9,
         .at_most = 6,
         .says = {"trainer 1 has not ended the pu", "trainer 1 is dead, or gives no sign of life"}},
        [&](int rank) {
          return Text(Train(job.ClientOf(rank), 5, rank == 1 ? Do(2, at, Stop) : nullptr));
        },
        [&](int rank) { return ServeText(job.ServerOf(rank)); });
  }
}

TEST_CASE("a job of one trainer that is stopped ends too, although nobody else waits") {
  TestJob job{1, 1};
  job.timeout_seconds = 2;
  RequireFailure(
      job, {.lost = {0}, .at_least = 0.9, .at_most = 6, .says = {"trainer 0 is dead, or gives no"}},
      [&](int rank) { return Text(Train(job.ClientOf(rank), 5, Do(2, At::kBegin, Stop))); },
      [&](int rank) { return ServeText(job.ServerOf(rank)); });
}

TEST_CASE(
    "a trainer that computes for longer than the deadline is waited for, unless others wait") {
  TestJob job{2, 1};
  job.timeout_seconds = 1;
  const auto think = [] { usleep(2'500'000); };
  job.Require(
      [&](int rank) { return Text(Train(job.ClientOf(rank), 3, Do(1, At::kBegin, think))); },
      [&](int rank) { return ServeText(job.ServerOf(rank)); });
  TestJob other{2, 1};
  other.timeout_seconds = 1;
  RequireFailure(
      other,
      {.at_least = 0.9,
       .at_most = 6,
       .says = {"trainer 1 has not ended the pushes of round 1 within 1 s, and trainer 0 waits"}},
      [&](int rank) {
        return Text(Train(other.ClientOf(rank), 3, rank == 1 ? Do(1, At::kBegin, think) : nullptr));
      },
      [&](int rank) { return ServeText(other.ServerOf(rank)); });
}

TEST_CASE("a server that is killed ends the job at once") {
  const TestJob job{2, 2};
  RequireFailure(
      job, {.lost = {3}, .at_most = 5, .says = {"server 1 is dead, or gives no sign of life"}},
      [&](int rank) { return Text(Train(job.ClientOf(rank), 5)); },
      [&](int rank) {
        if (rank == 0) return ServeText(job.ServerOf(rank));
        return Text(ServeDisturbed(job.ServerOf(rank), [](int round) {
          if (round == 2) Die();
        }));
      });
}

TEST_CASE("a server that is stopped, or too slow, ends the job within the deadline") {
  TestJob job{2, 2};
  job.timeout_seconds = 2;
  const bool stopped = GENERATE(true, false);
  std::vector<std::string> says = {"server 1 has not answered the pull of table 'w' in round 2"};
  if (stopped) says.push_back("server 1 is dead, or gives no sign of life");
  RequireFailure(
      job, {.lost = {3}, .at_least = 0.9, .at_most = 7, .says = says},
      [&](int rank) { return Text(Train(job.ClientOf(rank), 5)); },
      [&](int rank) {
        if (rank == 0) return ServeText(job.ServerOf(rank));
        return Text(ServeDisturbed(job.ServerOf(rank), [&](int round) {
          if (round == 2) stopped ? Stop() : static_cast<void>(usleep(10'000'000));
        }));
      });
}

TEST_CASE("a server that fails in its program says why to all") {
  const TestJob job{2, 2};
  RequireFailure(
      job, {.at_most = 5, .says = {"server 1 failed in round 0: the disk is full"}},
      [&](int rank) { return Text(Train(job.ClientOf(rank), 5)); },
      [&](int rank) -> std::string {
        if (rank == 0) return ServeText(job.ServerOf(rank));
        const Part part = PartOf(Variables()[0], Initial()[0], rank, 2);
        const auto server = Server::Make(job.ServerOf(rank));
        if (!server.ok() || !(*server)->Open({part.table}, {}).ok()) return "not begun";
        while (true) {
          const auto turn = (*server)->Next();
          if (!turn.ok()) return Text(turn.status());
          (*server)->Finish(absl::ResourceExhaustedError("the disk is full"));
        }
      });
}

TEST_CASE("a trainer that fails says why to all") {
  const TestJob job{2, 2};
  RequireFailure(
      job, {.at_most = 5, .says = {"trainer 1 failed: a bad feed", "-"}},
      [&](int rank) -> std::string {
        if (rank == 0) return Text(Train(job.ClientOf(rank), 5));
        const auto client = Client::Connect(job.ClientOf(rank));
        if (!client.ok()) return Text(client.status());
        (*client)->Abort("a bad feed");
        return "-";
      },
      [&](int rank) { return ServeText(job.ServerOf(rank)); });
}

TEST_CASE("a server that begins late is waited for; one that never does is named") {
  TestJob job{2, 2};
  job.timeout_seconds = 3;
  job.Require([&](int rank) { return Text(Train(job.ClientOf(rank), 3)); },
              [&](int rank) {
                if (rank == 1) usleep(1'500'000);
                return ServeText(job.ServerOf(rank));
              });
  TestJob other{2, 2};
  other.timeout_seconds = 1;
  SECTION("it is not there") {
    RequireFailure(
        other,
        {.lost = {3},
         .at_least = 0.9,
         .at_most = 5,
         .says = {"server 1 is not there: it has not told its address within 1 s"}},
        [&](int rank) { return Text(Train(other.ClientOf(rank), 3)); },
        [&](int rank) {
          if (rank == 1) usleep(20'000'000);
          return ServeText(other.ServerOf(rank));
        });
  }
  SECTION("it fails before it begins") {
    other.timeout_seconds = 30;
    RequireFailure(
        other, {.lost = {3}, .at_most = 5, .says = {"server 1 has failed: no memory is left"}},
        [&](int rank) { return Text(Train(other.ClientOf(rank), 3)); },
        [&](int rank) -> std::string {
          if (rank == 0) return ServeText(other.ServerOf(rank));
          const auto server = Server::Make(other.ServerOf(rank));
          (*server)->Abort("no memory is left");
          return "";
        });
  }
  SECTION("it was there") {
    // Its address is told, and nobody listens there any more.
    RequireFailure(
        other,
        {.lost = {3},
         .at_least = 0.9,
         .at_most = 5,
         .says = {"server 1 at 127.0.0.1:1 is not reached within 1 s"}},
        [&](int rank) { return Text(Train(other.ClientOf(rank), 3)); },
        [&](int rank) -> std::string {
          if (rank == 0) return ServeText(other.ServerOf(rank));
          comm::StoreClient(other.store.address(), kToken)
              .Set(AddressKey("servers", 1), std::string(kAt) + "127.0.0.1:1", 5)
              .IgnoreError();
          return "";
        });
  }
}

TEST_CASE("a trainer that never comes is named") {
  TestJob job{3, 1};
  job.timeout_seconds = 1;
  RequireFailure(
      job,
      {.lost = {2},
       .at_least = 0.9,
       .at_most = 5,
       .says = {"trainer 2 has not come to server 0 within 1 s"}},
      [&](int rank) {
        if (rank == 2) usleep(20'000'000);
        return Text(Train(job.ClientOf(rank), 3));
      },
      [&](int rank) { return ServeText(job.ServerOf(rank)); });
}

TEST_CASE("who runs another job, or a job of another size, ends it by name") {
  struct Row {
    const char* says;
    void (*change)(ClientOptions&);
  };
  const Row rows[] = {
      {"trainer 1 runs another job than server 0 (sha256:2, not sha256:1)",
       [](ClientOptions& o) { o.digest = "sha256:2"; }},
      {"trainer 1 is one of 3, and server 0 has 2", [](ClientOptions& o) { o.ranks = 3; }},
      {"trainer 1 asks for server 0 of 2, and this is server 0 of 1",
       [](ClientOptions& o) { o.servers = {{"ps", 2}}; }},
  };
  for (const Row& row : rows) {
    const TestJob job{2, 1};
    RequireFailure(
        job, {.at_most = 5, .says = {row.says}},
        [&](int rank) {
          ClientOptions options = job.ClientOf(rank);
          if (rank == 1) row.change(options);
          return Text(Train(options, 3));
        },
        [&](int rank) { return ServeText(job.ServerOf(rank)); });
  }
}

TEST_CASE("a second trainer of one rank is turned away, and the job goes on") {
  const TestJob job{3, 1};  // the third one is the double
  const auto outcomes = job.Run(
      [&](int rank) {
        ClientOptions options = job.ClientOf(rank);
        options.ranks = 2;
        if (rank < 2) return Text(Train(options, 4, Do(0, At::kBegin, [] { usleep(500'000); })));
        usleep(250'000);
        options.rank = 1;
        return Text(Train(options, 4));
      },
      [&](int rank) {
        ServerOptions options = job.ServerOf(rank);
        options.trainers = 2;
        return ServeText(options);
      });
  for (const size_t i : {0, 1, 3}) CHECK(outcomes[i].text.empty());
  CHECK_THAT(outcomes[2].text, Catch::Contains("trainer 1 has a connection to server 0 already"));
}

TEST_CASE("who does not know the token gets nowhere") {
  TestJob job{3, 1};  // the third one is the stranger
  const auto outcomes = job.Run(
      [&](int rank) -> std::string {
        ClientOptions options = job.ClientOf(rank);
        options.ranks = 2;
        if (rank < 2) return Text(Train(options, 4, Do(0, At::kBegin, [] { usleep(1'500'000); })));
        const auto word =
            comm::StoreClient(job.store.address(), kToken).Get(AddressKey("servers", 0), 10);
        if (!word.ok()) return Text(word.status());
        const std::string wrong = "10112233445566778899aabbccddeeff";
        options.token = wrong;
        options.timeout_seconds = 0.5;
        const std::string store = Text(Train(options, 1));
        const auto socket = comm::Call(word->substr(sizeof(kAt) - 1), *comm::KeyOfToken(wrong),
                                       PurposeOf("server", 0), 1, comm::NowNs() + 500'000'000);
        return store + " | " + Text(socket.status());
      },
      [&](int rank) {
        ServerOptions options = job.ServerOf(rank);
        options.trainers = 2;
        return ServeText(options);
      });
  for (const size_t i : {0, 1, 3}) {
    INFO(outcomes[i].text);
    CHECK(outcomes[i].text.empty());
  }
  CHECK_THAT(outcomes[2].text, Catch::Contains("it hangs up; it may be of another job"));
  CHECK_THAT(outcomes[2].text.substr(outcomes[2].text.find('|')),
             Catch::Contains("it hangs up; it may be of another job"));
}

namespace {

// Says things to the port of a server until it is gone: noise, other protocols, half a proof, and
// nothing at all on many connections; then, with a proof, noise to gRPC. What has come of it.
std::string MakeNoise(const TestJob& job) {
  const auto word =
      comm::StoreClient(job.store.address(), kToken).Get(AddressKey("servers", 0), 10);
  if (!word.ok()) return Text(word.status());
  const std::string address = word->substr(sizeof(kAt) - 1);
  std::mt19937 random(1);
  std::string noise(100000, 0);
  for (char& c : noise) c = static_cast<char>(random());
  const std::string words[] = {noise,
                               "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
                               "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + std::string(9, '\0'),
                               std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11),
                               "DTS2",
                               std::string("DTS2") + std::string(100, '\0'),
                               ""};
  std::vector<comm::Socket> open;
  int64_t said = 0;
  const double end = Now() + 2;
  const auto say = [&](const comm::Socket& socket, const std::string& text) {
    said += send(socket.fd(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
  };
  while (Now() < end) {
    for (const std::string& text : words) {
      auto socket = comm::ConnectTo(address, comm::NowNs() + 1'000'000'000);
      if (!socket.ok()) continue;
      say(*socket, text);
      open.push_back(*std::move(socket));
      if (open.size() > 400) open.erase(open.begin(), open.begin() + 200);
    }
    // A member of the job that does not speak gRPC.
    auto member = comm::Call(address, *comm::KeyOfToken(kToken), PurposeOf("server", 0), 1,
                             comm::NowNs() + 2'000'000'000);
    if (!member.ok()) return "a member is kept out: " + Text(member.status());
    say(*member, random() % 2 == 0 ? noise : words[2] + noise);
    usleep(5000);
  }
  return said > 100 ? "" : "hardly anything was said";
}

}  // namespace

TEST_CASE("garbage on the port, and on proven connections, never ends a job") {
  const TestJob job{3, 1};  // the third one is the disturber
  const auto outcomes = job.Run(
      [&](int rank) {
        ClientOptions options = job.ClientOf(rank);
        options.ranks = 2;
        if (rank == 2) return MakeNoise(job);
        const double end = Now() + 2.5;
        return Text(Train(options, 300, [&](int, At at) {
          if (at == At::kBegin && Now() < end) usleep(10000);
        }));
      },
      [&](int rank) {
        ServerOptions options = job.ServerOf(rank);
        options.trainers = 2;
        return ServeText(options);
      });
  for (const auto& outcome : outcomes) {
    INFO(outcome.text);
    CHECK(outcome.text.empty());
    CHECK(outcome.signal == 0);
    CHECK_FALSE(outcome.late);
  }
}

}  // namespace dtranspile::ps::test
