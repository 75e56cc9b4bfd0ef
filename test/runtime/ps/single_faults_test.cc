// What goes wrong where servers apply every push by itself: who is killed, stopped, slow or leaves
// early. Everybody else ends in time with a message that names the one to blame, or goes on.
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "runtime/base/status.h"
#include "test/runtime/ps/faults.h"

namespace dtranspile::ps::test {
namespace {

void Die() { raise(SIGKILL); }
void Stop() { raise(SIGSTOP); }

// Steps of a trainer: pushes ones, pulls.
absl::Status TrainAlone(const ClientOptions& options, int steps, const Disturb& disturb = nullptr) {
  const auto at = [&](int step, At place) {
    if (disturb) disturb(step, place);
  };
  DT_ASSIGN_OR_RETURN(const auto client, Client::Connect(options));
  const Variable& w = Variables()[0];
  std::vector<float> ones(static_cast<size_t>(w.count()), 1.0F), values(ones);
  const auto run = [&]() -> absl::Status {
    for (int step = 0; step < steps; ++step) {
      at(step, At::kBegin);
      DT_RETURN_IF_ERROR(
          client->Push(w.request(), exec::Merge::kEach,
                       {DType::kFloat32, w.dims, reinterpret_cast<const std::byte*>(ones.data())}));
      at(step, At::kPushed);
      DT_RETURN_IF_ERROR(client->Pull(
          w.request(), {DType::kFloat32, w.dims, reinterpret_cast<std::byte*>(values.data())}));
      at(step, At::kPulled);
    }
    at(steps, At::kEnd);
    return client->Leave();
  };
  const absl::Status status = run();
  if (!status.ok()) client->Abort(std::string(status.message()));
  return status;
}

// Applies pushes, by taking them; `before` is told the number of every one.
absl::Status ServeSingle(const ServerOptions& options,
                         const std::function<absl::Status(int)>& before = nullptr) {
  const Variable& w = Variables()[0];
  Part part = PartOf(w, Initial()[0], options.server, options.servers);
  DT_ASSIGN_OR_RETURN(const auto server, Server::Make(options));
  DT_RETURN_IF_ERROR(server->Open({part.table}, {{exec::When::kPush, "w"}}));
  const auto run = [&]() -> absl::Status {
    for (int number = 0;; ++number) {
      DT_ASSIGN_OR_RETURN(const exec::Turn turn, server->Next());
      if (turn.kind == exec::Turn::Kind::kEnd) return absl::OkStatus();
      std::vector<float> pushed(part.values.size());
      absl::Status status = before ? before(number) : absl::OkStatus();
      if (status.ok())
        status = server->Merged(
            "w", -1,
            {DType::kFloat32, part.table.dims, reinterpret_cast<std::byte*>(pushed.data())});
      for (size_t i = 0; i < pushed.size(); ++i) part.values[i] -= pushed[i];
      server->Finish(status);
      DT_RETURN_IF_ERROR(status);
    }
  };
  const absl::Status status = run();
  if (!status.ok()) server->Abort(std::string(status.message()));
  return status;
}

std::string ServeAll(const ServerOptions& options) { return Text(ServeSingle(options)); }

}  // namespace

TEST_CASE("single pushes: a trainer that is killed ends the job at once") {
  for (const At at : {At::kBegin, At::kPushed, At::kPulled, At::kEnd}) {
    const TestJob job{3, 2};
    RequireFailure(
        job, {.lost = {1}, .at_most = 5, .says = {"trainer 1 is dead, or gives no sign of life"}},
        [&](int rank) {
          const auto wait = [] { usleep(700'000); };
          return Text(
              TrainAlone(job.ClientOf(rank), 4,
                         rank == 1 ? Do(at == At::kEnd ? 4 : 2, at, Die) : Do(4, At::kEnd, wait)));
        },
        [&](int rank) { return ServeAll(job.ServerOf(rank)); });
  }
}

TEST_CASE("single pushes: a trainer that is stopped ends the job within the deadline") {
  TestJob job{2, 2};
  job.timeout_seconds = 2;
  RequireFailure(
      job,
      {.lost = {1},
       .at_least = 0.9,
       .at_most = 8,
       .says = {"trainer 1 is dead, or gives no sign of life"}},
      [&](int rank) {
        return Text(TrainAlone(
            job.ClientOf(rank), 4,
            rank == 1 ? Do(2, At::kPushed, Stop) : Do(4, At::kEnd, [] { usleep(7'000'000); })));
      },
      [&](int rank) { return ServeAll(job.ServerOf(rank)); });
}

TEST_CASE("single pushes: nobody waits for a trainer that computes, or has left") {
  TestJob job{2, 1};
  job.timeout_seconds = 2;
  job.Require(
      [&](int rank) {
        return Text(TrainAlone(job.ClientOf(rank), rank == 0 ? 1 : 3,
                               Do(1, At::kBegin, [] { usleep(5'000'000); })));
      },
      [&](int rank) { return ServeAll(job.ServerOf(rank)); });
}

TEST_CASE("single pushes: a server that is killed ends the job at once") {
  const TestJob job{2, 2};
  RequireFailure(
      job, {.lost = {3}, .at_most = 5, .says = {"server 1 is dead, or gives no sign of life"}},
      // Nobody pushes before the other one has had the time to come: a trainer alone would have the
      // server die before that.
      [&](int rank) {
        return Text(
            TrainAlone(job.ClientOf(rank), 50, Do(0, At::kBegin, [] { usleep(1'500'000); })));
      },
      [&](int rank) {
        if (rank == 0) return ServeAll(job.ServerOf(rank));
        return Text(ServeSingle(job.ServerOf(rank), [](int number) {
          if (number == 5) Die();
          return absl::OkStatus();
        }));
      });
}

TEST_CASE("single pushes: a server that is stopped, or too slow, ends the job in time") {
  TestJob job{2, 2};
  job.timeout_seconds = 2;
  const bool stopped = GENERATE(true, false);
  std::vector<std::string> says = {"server 1 has not answered the "};
  if (stopped) says.push_back("server 1 is dead, or gives no sign of life");
  RequireFailure(
      job, {.lost = {3}, .at_least = 0.9, .at_most = 7, .says = says},
      [&](int rank) { return Text(TrainAlone(job.ClientOf(rank), 50)); },
      [&](int rank) {
        if (rank == 0) return ServeAll(job.ServerOf(rank));
        return Text(ServeSingle(job.ServerOf(rank), [&](int number) {
          if (number == 5) stopped ? Stop() : static_cast<void>(usleep(10'000'000));
          return absl::OkStatus();
        }));
      });
}

TEST_CASE("single pushes: a handler that fails is told to everybody") {
  const TestJob job{2, 2};
  RequireFailure(
      job, {.at_most = 5, .says = {"of table 'w', out of ink", "out of ink"}},
      [&](int rank) { return Text(TrainAlone(job.ClientOf(rank), 50)); },
      [&](int rank) {
        if (rank == 0) return ServeAll(job.ServerOf(rank));
        return Text(ServeSingle(job.ServerOf(rank), [](int number) {
          return number == 5 ? absl::InternalError("out of ink") : absl::OkStatus();
        }));
      });
}

TEST_CASE("single pushes: a trainer that never comes is missed") {
  TestJob job{2, 1};
  job.timeout_seconds = 1;
  RequireFailure(
      job,
      {.lost = {1}, .at_least = 0.9, .at_most = 5, .says = {"trainer 1 has not come to server 0"}},
      [&](int rank) {
        if (rank == 1) Die();
        return Text(TrainAlone(job.ClientOf(rank), 1, Do(1, At::kEnd, [] { usleep(2'000'000); })));
      },
      [&](int rank) { return ServeAll(job.ServerOf(rank)); });
}

}  // namespace dtranspile::ps::test
