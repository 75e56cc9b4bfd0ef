// What goes wrong between trainers and servers: who is killed, stopped, late or not there.
// Everybody else ends in time with a message that names the one to blame.
#include "test/runtime/ps/faults.h"

#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "runtime/comm/gloo/store.h"
#include "runtime/ps/settings.h"

namespace dtranspile::ps::test {
namespace {

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
  job.timeout_seconds = 2;
  const auto think = [] { usleep(5'000'000); };
  job.Require(
      [&](int rank) { return Text(Train(job.ClientOf(rank), 3, Do(1, At::kBegin, think))); },
      [&](int rank) { return ServeText(job.ServerOf(rank)); });
  TestJob other{2, 1};
  other.timeout_seconds = 2;
  RequireFailure(
      other,
      {.at_least = 1.9,
       .at_most = 7,
       .says = {"trainer 1 has not ended the pushes of round 1 within 2 s, and trainer 0 waits"}},
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
  std::vector<std::string> says = {"server 1 has not answered the "};
  // A process that is stopped may not have sent the answers before.
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
  job.timeout_seconds = 8;
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

}  // namespace dtranspile::ps::test
