// A server that applies every push by itself: in which order, what a pull sees, what each mistake
// is called, and who is waited for. By itself first, then as real processes.
#include "runtime/ps/single_push.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <thread>

#include "runtime/base/status.h"
#include "test/runtime/ps/job.h"

namespace dtranspile::ps {
namespace {

using exec::Merge;
using exec::Turn;

struct Word {
  bool given = false;
  absl::Status status;
  Protocol::Answer Take() {
    return [this](const absl::Status& s) {
      CHECK(!given);
      given = true, status = s;
    };
  }
};

// A server with w [4], v [2] and state [2], of which w and v have a program for their pushes.
struct Job {
  explicit Job(int trainers, double seconds = 60)
      : protocol({"server 0", "trainer", trainers, seconds,
                  [this](const std::string& why) { failures.push_back(why); }},
                 {TableOf("w", w), TableOf("v", v), TableOf("state", state)}, {"w", "v"}, {"v"}) {
    for (int t = 0; t < trainers; ++t) REQUIRE(protocol.Join(t).ok());
  }

  static exec::Table TableOf(const std::string& name, std::vector<float>& values) {
    exec::Table table;
    table.name = name;
    table.dims = {static_cast<int64_t>(values.size())};
    table.data = reinterpret_cast<std::byte*>(values.data());
    return table;
  }

  absl::Status Push(int trainer, int64_t number, const std::string& table,
                    std::vector<float> values, Merge merge = Merge::kEach) {
    Payload payload({grpc::Slice(values.data(), values.size() * sizeof(float))}, 0);
    return protocol.Push(trainer, number, table, {merge, DType::kFloat32, 0, false, 0, 0}, payload);
  }
  std::string Wrong(int trainer, int64_t number, const std::string& table,
                    std::vector<float> values, Merge merge = Merge::kEach) {
    return std::string(Push(trainer, number, table, std::move(values), merge).message());
  }

  // Runs what is next: adds what was pushed. "trainer table".
  std::string Run() {
    const absl::StatusOr<Turn> turn = protocol.Next();
    REQUIRE(turn.ok());
    if (turn->kind == Turn::Kind::kEnd) return "end";
    CHECK(turn->when == exec::When::kPush);
    REQUIRE(turn->arguments.size() == 1);
    int64_t from = -1;
    std::memcpy(&from, turn->arguments[0].data, sizeof(from));
    std::vector<float>& to = turn->table == "w" ? w : v;
    std::vector<float> gradient(to.size());
    const absl::Status merged = protocol.Merged(turn->table, -1,
                                                {DType::kFloat32,
                                                 {static_cast<int64_t>(to.size())},
                                                 reinterpret_cast<std::byte*>(gradient.data())});
    INFO(merged.message());
    REQUIRE(merged.ok());
    for (size_t i = 0; i < to.size(); ++i) to[i] += gradient[i];
    protocol.Finish(absl::OkStatus());
    return std::to_string(from) + " " + turn->table;
  }

  std::vector<float> Pull(int trainer, const std::string& table) {
    const exec::Table& one = *protocol.Find(table);
    const auto memory = protocol.Memory(trainer, one, Protocol::Reading::kPull, 0);
    std::vector<float> values(static_cast<size_t>(one.dims[0]));
    std::memcpy(values.data(), memory.get(), values.size() * sizeof(float));
    return values;
  }

  std::vector<float> w = {0, 0, 0, 0}, v = {0, 0}, state = {5, 5};
  std::vector<std::string> failures;
  SinglePushes protocol;
};

TEST_CASE("pushes of a trainer are applied in the order of their numbers") {
  Job job(2);
  REQUIRE(job.Push(0, 1, "v", {1, 1}).ok());  // has overtaken push 0
  REQUIRE(job.Push(1, 0, "v", {2, 2}).ok());
  CHECK(job.Run() == "1 v");
  REQUIRE(job.Push(0, 0, "w", {1, 2, 3, 4}).ok());
  CHECK(job.Run() == "0 w");
  CHECK(job.Run() == "0 v");
  CHECK(job.w == std::vector<float>{1, 2, 3, 4});
  CHECK(job.v == std::vector<float>{3, 3});
  job.protocol.Leave(0);
  job.protocol.Leave(1);
  CHECK(job.Run() == "end");
  CHECK(job.failures.empty());
}

TEST_CASE("trainers that are ready take turns") {
  Job job(2);
  for (int64_t number : {0, 1})
    for (int trainer : {0, 1}) REQUIRE(job.Push(trainer, number, "w", {1, 1, 1, 1}).ok());
  CHECK(job.Run() == "0 w");
  CHECK(job.Run() == "1 w");
  CHECK(job.Run() == "0 w");
  CHECK(job.Run() == "1 w");
}

TEST_CASE("a pull is answered after the pushes that it names, of its own trainer only") {
  Job job(2);
  Word before, own, other;
  job.protocol.Read(0, 0, "w", Protocol::Reading::kPull, before.Take());
  CHECK(before.given);
  REQUIRE(job.Push(0, 0, "w", {1, 1, 1, 1}).ok());
  job.protocol.Read(0, 1, "v", Protocol::Reading::kPull, own.Take());
  job.protocol.Read(1, 0, "w", Protocol::Reading::kPull, other.Take());
  CHECK_FALSE(own.given);
  CHECK(other.given);
  CHECK(job.Run() == "0 w");
  CHECK((own.given && own.status.ok()));
  CHECK(job.Pull(0, "w") == std::vector<float>{1, 1, 1, 1});
}

TEST_CASE("what a pull has begun to read stays, whatever is applied meanwhile") {
  Job job(1);
  const exec::Table& w = *job.protocol.Find("w");
  const auto old = job.protocol.Memory(0, w, Protocol::Reading::kPull, 0);
  REQUIRE(job.Push(0, 0, "w", {1, 1, 1, 1}).ok());
  CHECK(job.Run() == "0 w");
  float first = -1;
  std::memcpy(&first, old.get(), sizeof(first));
  CHECK(first == 0);
  CHECK(job.Pull(0, "w") == std::vector<float>{1, 1, 1, 1});
}

TEST_CASE("changed rows are told to the others, once, until they change again") {
  Job job(3);
  const exec::Table& w = *job.protocol.Find("w");
  const auto push = [&](int trainer, int64_t number, std::vector<int64_t> rows, bool tracked) {
    std::vector<float> values(rows.size(), 1);
    std::vector<char> bytes(rows.size() * (sizeof(int64_t) + sizeof(float)));
    std::memcpy(bytes.data(), rows.data(), rows.size() * sizeof(int64_t));
    std::memcpy(bytes.data() + rows.size() * sizeof(int64_t), values.data(),
                values.size() * sizeof(float));
    Payload payload({grpc::Slice(bytes.data(), bytes.size())}, 0);
    PushChunk chunk{Merge::kEach, DType::kFloat32, 0, true, static_cast<int64_t>(rows.size())};
    chunk.tracked = tracked;
    REQUIRE(job.protocol.Push(trainer, number, "w", chunk, payload).ok());
    REQUIRE(job.Run() == std::to_string(trainer) + " w");
  };
  const auto taken = [&](int trainer) { return *job.protocol.TakeChanged(trainer, w); };
  CHECK(taken(0).empty());
  push(0, 0, {3, 1}, true);
  CHECK(job.w == std::vector<float>{0, 1, 0, 1});
  CHECK(taken(0).empty());
  CHECK(taken(1) == std::vector<int64_t>{1, 3});
  CHECK(taken(1).empty());
  push(1, 0, {0, 1}, true);
  push(0, 1, {2}, false);
  CHECK(taken(0) == std::vector<int64_t>{0, 1});
  CHECK(taken(1).empty());
  CHECK(taken(2) == std::vector<int64_t>{0, 1, 3});
  // Also those whose values another trainer has changed since.
  push(1, 1, {1}, true);
  push(0, 2, {1}, true);
  CHECK(taken(0) == std::vector<int64_t>{1});
  CHECK(taken(1) == std::vector<int64_t>{1});
}

TEST_CASE("what a trainer has pulled last is kept for the handlers that ask for it") {
  Job job(2);
  const auto pulled = [&](const std::string& table) {
    std::vector<float> values(2, -1);
    const absl::Status status = job.protocol.Pulled(
        table, -1, {DType::kFloat32, {2}, reinterpret_cast<std::byte*>(values.data())});
    return std::pair(status, values);
  };
  const auto next = [&](int trainer, int64_t number, std::vector<float> expected) {
    REQUIRE(job.Push(trainer, number, "v", {1, 2}).ok());
    REQUIRE(job.protocol.Next().ok());
    CHECK(pulled("v") == std::pair(absl::OkStatus(), expected));
    for (float& one : job.v) one += 1;
    job.protocol.Finish(absl::OkStatus());
  };
  next(0, 0, {0, 0});  // the first values, without a pull
  CHECK(job.Pull(0, "v") == std::vector<float>{1, 1});
  next(1, 0, {0, 0});
  next(0, 1, {1, 1});
  CHECK(job.Pull(1, "v") == std::vector<float>{3, 3});
  next(1, 1, {3, 3});
  REQUIRE(job.Push(0, 2, "w", {1, 1, 1, 1}).ok());
  REQUIRE(job.protocol.Next().ok());
  CHECK(pulled("w").first.message() ==
        "what was pulled of table 'w' is float32[4], and is not kept");
  CHECK(pulled("v").first.message() ==
        "nothing that has been pushed for table 'v' is applied now on server 0");
}

TEST_CASE("no program begins on a table that somebody reads") {
  Job job(1);
  // A lookup reads the table itself.
  auto memory = job.protocol.Memory(0, *job.protocol.Find("w"), Protocol::Reading::kLookup, 0);
  REQUIRE(job.Push(0, 0, "w", {1, 1, 1, 1}).ok());
  std::thread reader([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    CHECK(job.w[0] == 0);
    memory.reset();
  });
  CHECK(job.Run() == "0 w");
  reader.join();
}

TEST_CASE("tables without a program are read between programs") {
  Job job(1);
  CHECK(job.Pull(0, "state") == std::vector<float>{5, 5});
  REQUIRE(job.Push(0, 0, "w", {1, 1, 1, 1}).ok());
  const absl::StatusOr<Turn> turn = job.protocol.Next();
  REQUIRE(turn.ok());
  std::vector<float> seen;
  std::thread reader([&] { seen = job.Pull(0, "state"); });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  job.state = {6, 6};  // the program's work
  job.protocol.Finish(absl::OkStatus());
  reader.join();
  CHECK(seen == std::vector<float>{6, 6});
}

TEST_CASE("what is wrong with a push ends the job, by name") {
  const std::string push = "trainer 1's push 0, of table '";
  CHECK(Job(2).Wrong(1, 0, "x", {1}) == push + "x', is for none of the tables of server 0");
  CHECK(Job(2).Wrong(1, 0, "state", {1, 1}) ==
        push + "state', is for a table that no program of server 0 takes pushes for");
  CHECK(Job(2).Wrong(1, 0, "v", {1, 1}, Merge::kMean) ==
        push +
            "v', is to be merged with those of others, and server 0 applies every push by itself: "
            "push with merge each");
  CHECK(Job(2).Wrong(1, 0, "v", {1, 1, 1}) == push + "v', has 12 bytes in message 0, not 8");
  Job late(2);
  REQUIRE(late.Push(0, 0, "v", {1, 1}).ok());
  CHECK(late.Run() == "0 v");
  CHECK(late.Wrong(0, 0, "v", {1, 1}) ==
        "trainer 0's push 0, of table 'v', comes late: it has been applied");
  CHECK(late.failures.size() == 1);
  Job twice(2);
  REQUIRE(twice.Push(0, 0, "v", {1, 1}).ok());
  CHECK(twice.Wrong(0, 0, "v", {1, 1}) == "trainer 0's push 0, of table 'v', has come twice");
  Job other(2);
  REQUIRE(other.Push(0, 0, "v", {1, 1}).ok());
  CHECK(other.Wrong(0, 0, "w", {1, 1, 1, 1}) ==
        "trainer 0's push 0, of table 'w', was one of table 'v' before");
}

TEST_CASE("a server keeps so many pushes of a trainer and no more") {
  Job job(1);
  CHECK(job.protocol.most_waiting() == 2 * kMostWaitingPushes);
  for (int64_t number = 0; number < job.protocol.most_waiting(); ++number)
    REQUIRE(job.Push(0, number, "v", {1, 1}).ok());
  CHECK(job.Wrong(0, job.protocol.most_waiting(), "v", {1, 1}) ==
        "trainer 0's push 128, of table 'v', comes too early: server 0 has applied 0, and keeps "
        "128");
}

TEST_CASE("other requests that make no sense end the job") {
  Job job(1);
  Word word;
  job.protocol.Read(0, 0, "x", Protocol::Reading::kPull, word.Take());
  CHECK(word.status.message() ==
        "trainer 0's pull of table 'x' is for none of the tables of server 0");
  Job phase(1);
  Word end;
  phase.protocol.EndPhase(0, 0, exec::Phase::kPull, end.Take());
  CHECK(end.status.message() == "trainer 0 ends its pulls, and server 0 has no rounds");
  Job left(1);
  REQUIRE(left.Push(0, 1, "w", {1, 1, 1, 1}).ok());
  left.protocol.Leave(0);
  CHECK(left.failures == std::vector<std::string>{"trainer 0 leaves in the middle of its push 0"});
}

TEST_CASE("a failed program is told to all that wait") {
  Job job(2);
  Word word;
  REQUIRE(job.Push(1, 0, "w", {1, 1, 1, 1}).ok());
  job.protocol.Read(1, 1, "w", Protocol::Reading::kPull, word.Take());
  REQUIRE(job.protocol.Next().ok());
  job.protocol.Finish(absl::InternalError("out of ink"));
  const std::string why =
      "server 0 failed when it applied trainer 1's push 0, of table 'w', out of ink";
  CHECK(word.status.message() == why);
  CHECK(job.protocol.Next().status().message() == why);
}

TEST_CASE("trainers that do not come are waited for as long as the deadline says") {
  SinglePushes protocol({"server 0", "trainer", 2, 0.1, {}}, {}, {});
  REQUIRE(protocol.Join(0).ok());
  CHECK(protocol.Next().status().message() == "trainer 1 has not come to server 0 within 0.1 s");
}

// As processes: w and v on every server, each push is added.
absl::Status ServeSums(const ServerOptions& options, const std::vector<test::Variable>& variables) {
  std::vector<test::Part> parts;
  std::vector<exec::Table> tables;
  std::vector<exec::Rounds::Handler> handlers;
  for (const test::Variable& variable : variables) {
    const std::vector<float> zeros(static_cast<size_t>(variable.count()));
    parts.push_back(test::PartOf(variable, zeros, options.server, options.servers));
    handlers.push_back({exec::When::kPush, variable.name});
  }
  for (const test::Part& part : parts) tables.push_back(part.table);
  DT_ASSIGN_OR_RETURN(const auto server, Server::Make(options));
  DT_RETURN_IF_ERROR(server->Open(tables, handlers));
  while (true) {
    DT_ASSIGN_OR_RETURN(const Turn turn, server->Next());
    if (turn.kind == Turn::Kind::kEnd) return absl::OkStatus();
    for (test::Part& part : parts) {
      if (part.table.name != turn.table) continue;
      std::vector<float> gradient(part.values.size());
      const absl::Status merged = server->Merged(
          turn.table, -1,
          {DType::kFloat32, part.table.dims, reinterpret_cast<std::byte*>(gradient.data())});
      for (size_t i = 0; i < gradient.size(); ++i) part.values[i] += gradient[i];
      server->Finish(merged);
      DT_RETURN_IF_ERROR(merged);
    }
  }
}

// Every pull sees all own pushes, and never half of anybody's: with ones pushed, all elements of a
// server's part are equal at any time. The table takes several messages.
absl::Status AddOnes(const ClientOptions& options, const test::Variable& w, int64_t steps) {
  DT_ASSIGN_OR_RETURN(const auto client, Client::Connect(options));
  const auto count = static_cast<size_t>(w.count());
  const std::vector<float> ones(count, 1.0F);
  std::vector<float> values(count);
  const exec::Parts parts(*w.layout, RanksOf(options.servers));
  for (int64_t step = 0; step < steps; ++step) {
    DT_RETURN_IF_ERROR(
        client->Push(w.request(), Merge::kEach,
                     {DType::kFloat32, w.dims, reinterpret_cast<const std::byte*>(ones.data())}));
    if (step % 3 == 1) continue;  // pushes may stand after each other
    DT_RETURN_IF_ERROR(client->Pull(
        w.request(), {DType::kFloat32, w.dims, reinterpret_cast<std::byte*>(values.data())}));
    const size_t width = count / static_cast<size_t>(w.dims[0]);
    for (int64_t block = 0; block < parts.blocks(); ++block) {
      const auto rows = static_cast<size_t>(parts.block(block).extent);
      const float first = values[static_cast<size_t>(block * w.layout->per) * width];
      for (size_t i = 0; i < rows * width; ++i)
        if (values[static_cast<size_t>(block * w.layout->per) * width + i] != first)
          return absl::InternalError("a pull has torn values");
      if (first < static_cast<float>(step + 1))
        return absl::InternalError("a pull lacks a push of its own trainer");
    }
  }
  return client->Leave();
}

TEST_CASE("real servers apply pushes of several trainers, untorn and in order") {
  test::TestJob job{.trainers = 3, .servers = 2};
  const test::Variable w{"w",
                         DType::kFloat32,
                         {1200, 1000},
                         test::LayoutOf(exec::LayoutKind::kBlocks, {1200, 1000}, 0, 600)};
  job.Require([&](int trainer) { return test::Text(AddOnes(job.ClientOf(trainer), w, 12)); },
              [&](int server) { return test::Text(ServeSums(job.ServerOf(server), {w})); });
}

TEST_CASE("a trainer that never pulls waits where a server keeps no more of its pushes") {
  test::TestJob job{.trainers = 1, .servers = 1};
  const test::Variable v{"v", DType::kFloat32, {8}, {}};
  const auto push = [&](int trainer) -> absl::Status {
    DT_ASSIGN_OR_RETURN(const auto client, Client::Connect(job.ClientOf(trainer)));
    const std::vector<float> ones(8, 1.0F);
    std::vector<float> values(8);
    const int64_t steps = 5 * kMostWaitingPushes;
    for (int64_t step = 0; step < steps; ++step)
      DT_RETURN_IF_ERROR(
          client->Push(v.request(), Merge::kEach,
                       {DType::kFloat32, v.dims, reinterpret_cast<const std::byte*>(ones.data())}));
    DT_RETURN_IF_ERROR(client->Pull(
        v.request(), {DType::kFloat32, v.dims, reinterpret_cast<std::byte*>(values.data())}));
    if (values[7] != static_cast<float>(steps)) return absl::InternalError("a push is lost");
    return client->Leave();
  };
  job.Require([&](int trainer) { return test::Text(push(trainer)); },
              [&](int server) { return test::Text(ServeSums(job.ServerOf(server), {v})); });
}

}  // namespace
}  // namespace dtranspile::ps
