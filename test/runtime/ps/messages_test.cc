// What the two ends of a job with servers say of options, of requests and of each other, beside
// what the protocol refuses (protocol_test.cc): the whole sentence.
#include <catch2/catch.hpp>
#include <cstring>
#include <future>
#include <thread>

#include "runtime/base/status.h"
#include "runtime/comm/gloo/handshake.h"
#include "runtime/comm/gloo/store.h"
#include "runtime/comm/patience.h"
#include "runtime/ps/door.h"
#include "runtime/ps/peer.h"
#include "runtime/ps/protocol.h"
#include "runtime/ps/settings.h"
#include "runtime/ps/worker_links.h"
#include "test/runtime/ps/job.h"

namespace dtranspile::ps::test {
namespace {

using exec::LayoutKind;
using exec::Phase;

std::string Said(const absl::Status& status) { return std::string(status.message()); }

ClientOptions Trainer(int rank, int ranks, std::vector<std::string> addresses) {
  ClientOptions options;
  options.token = kToken;
  options.rank = rank;
  options.ranks = ranks;
  options.servers = {{"ps", 2}};
  options.addresses = std::move(addresses);
  return options;
}

// A protocol of one table w [4] after the pulls of the start-up.
struct Rounds {
  explicit Rounds(int trainers) : protocol({"server 0", "trainer", trainers, 60}, {Table()}) {
    for (int t = 0; t < trainers; ++t) REQUIRE(protocol.Join(t).ok());
    End(trainers, kStartUp, Phase::kPull);
  }
  static exec::Table Table() {
    exec::Table table;
    table.name = "w";
    table.dims = {4};
    return table;
  }
  void End(int trainers, int64_t round, Phase phase) {
    for (int t = 0; t < trainers; ++t)
      protocol.EndPhase(t, round, phase, [](const absl::Status& status) { CHECK(status.ok()); });
  }
  void Push(int trainer, int64_t round) {
    const std::vector<float> ones(4, 1.0F);
    Payload payload({grpc::Slice(ones.data(), 16)}, 0);
    REQUIRE(protocol
                .Push(trainer, round, "w", {exec::Merge::kSum, DType::kFloat32, 0, false, 0, 0},
                      payload)
                .ok());
  }

  Protocol protocol;
};

}  // namespace

TEST_CASE("options without sense") {
  CHECK(Said(Client::Connect(Trainer(3, 2, {})).status()) ==
        "trainer 3 of 2 with 2 of role 'server' makes no sense");
  CHECK(Said(Client::Connect(Trainer(0, 2, {"127.0.0.1:1"})).status()) ==
        "1 addresses of 2 servers 'server'");
  ServerOptions server;
  server.token = kToken;
  CHECK(Said(Server::Make(server).status()) ==
        "server 0 has neither an address of its own nor a store to tell one in");
  server.trainers = 0;
  CHECK(Said(Server::Make(server).status()) ==
        "server 0 of 1 for 0 of role 'trainer' makes no sense");
}

TEST_CASE("CONFIG of servers that does not fit itself") {
  exec::WorkerConfig worker;
  worker.rendezvous.token = kToken;
  exec::RpcConfig rpc;
  rpc.role = "server";
  rpc.servers = 3;
  rpc.mesh = {{"ps", 2}};
  CHECK(Said(Connect(worker, rpc).status()) == "CONFIG has 3 servers 'server' on a mesh of 2");
  rpc.addresses = {"127.0.0.1:1"};
  rpc.number = 1;
  CHECK(Said(ps::Serve(worker, rpc).status()) == "CONFIG has 1 addresses, and none for server 1");
}

TEST_CASE("what synchronous rounds do not do") {
  Rounds rounds(2);
  for (int t = 0; t < 2; ++t) rounds.Push(t, 0);
  rounds.End(2, 0, Phase::kPush);
  REQUIRE(rounds.protocol.Next().ok());
  exec::Value sparse(exec::Value::Kind::kRows, DType::kFloat32);
  CHECK(Said(rounds.protocol.MergedRows("w", -1, sparse)) ==
        "table 'w' is pushed dense, and its rows are asked for");
  CHECK(Said(rounds.protocol.Pulled("w", -1, {})) ==
        "server 0 has rounds, and does not keep what was pulled of table 'w'");
  CHECK(Said(rounds.protocol.TakeChanged(1, Rounds::Table()).status()) ==
        "trainer 1 asks which rows of table 'w' have changed, and server 0 has rounds, in which "
        "all may");
  rounds.protocol.Finish(absl::OkStatus());
  rounds.protocol.EndPhase(1, 0, Phase::kPull, [](const absl::Status&) {});
  std::string answer;
  rounds.protocol.Read(1, 0, "w", Protocol::Reading::kPull,
                       [&](const absl::Status& status) { answer = Said(status); });
  CHECK(answer == "trainer 1's pull of table 'w' in round 0 comes late: it has ended its pulls");
}

TEST_CASE("requests that do not fit their table") {
  const std::vector<Variable> variables = {
      {"rows", DType::kFloat32, {6, 2}, LayoutOf(LayoutKind::kBlocks, {6, 2}, 0, 2)},
      {"flat", DType::kFloat32, {5, 5}, LayoutOf(LayoutKind::kEven, {5, 5}, -1)}};
  const std::vector<std::vector<float>> initial = {std::vector<float>(12), std::vector<float>(25)};
  TestJob job;
  const auto trainer = [&](int rank) {
    const auto client = Client::Connect(job.ClientOf(rank));
    if (!client.ok()) return Said(client.status());
    std::string said;
    const auto hear = [&](const absl::Status& status) { said += Said(status) + "\n"; };
    exec::Value value(exec::Value::Kind::kRows, DType::kFloat32);
    value.dims = {2, 2};
    value.rows = {0};
    value.height = 6;
    hear((*client)->PushRows(variables[1].request(), exec::Merge::kSum, value));
    hear((*client)->PushRows(variables[0].request(), exec::Merge::kSum, value));
    const int64_t ids[] = {1, 2};
    std::vector<float> room(4);
    hear((*client)->Lookup(variables[0].request(), ids, 2,
                           {DType::kFloat32, {3, 1}, reinterpret_cast<std::byte*>(room.data())}));
    exec::Layout other = *variables[0].layout;
    other.axes = {"dp"};
    hear((*client)->Lookup({"0:0 test", "other", &other}, ids, 2,
                           {DType::kFloat32, {2, 2}, reinterpret_cast<std::byte*>(room.data())}));
    (*client)->Abort("the test has ended");
    return said;
  };
  const auto outcomes = job.Run(trainer, [&](int server) {
    Serve(job.ServerOf(server), variables, initial, 1).IgnoreError();
    return std::string();
  });
  const std::string& said = outcomes.front().text;
  using Catch::Matchers::Contains;
  CHECK_THAT(said, Contains("the push of rows of table 'flat': the table is not cut along its "
                            "rows, so SelectedRows cannot be pushed"));
  CHECK_THAT(said, Contains("the push of rows of table 'rows': rows and their numbers disagree"));
  CHECK_THAT(said, Contains("the lookup in table 'rows': 2 rows of 8 bytes are not float32[3, 1]"));
  CHECK_THAT(said, Contains("table 'other' on the servers 'server': "));
}

TEST_CASE("several lookups in one message that make no sense") {
  const std::vector<Variable> variables = {
      {"a", DType::kFloat32, {6, 2}, LayoutOf(LayoutKind::kBlocks, {6, 2}, 0, 2)},
      {"b", DType::kFloat32, {6, 3}, LayoutOf(LayoutKind::kBlocks, {6, 3}, 0, 2)}};
  const std::vector<std::vector<float>> initial = {std::vector<float>(12), std::vector<float>(18)};
  TestJob job;
  const auto trainer = [&](int) -> std::string {
    const auto word =
        comm::StoreClient(job.store.address(), kToken).Get(AddressKey("servers", 0), 10);
    if (!word.ok()) return Said(word.status());
    const int64_t deadline_ns = comm::NowNs() + 10'000'000'000;
    auto socket = comm::Call(word->substr(sizeof(kAt) - 1), *comm::KeyOfToken(kToken),
                             PurposeOf("server", 0), 0, deadline_ns);
    if (!socket.ok()) return Said(socket.status());
    const auto queue = std::make_shared<grpc::CompletionQueue>();
    std::thread events([&] {
      void* tag = nullptr;
      for (bool ok = false; queue->Next(&tag, &ok);) static_cast<Event*>(tag)->Happen(ok);
    });
    std::string said;
    {
      Peer peer("server 0", *std::move(socket), 30, queue, [](const std::string&) {});
      Hello hello;
      hello.set_protocol(kProtocolVersion);
      hello.set_digest("sha256:1");
      hello.set_role("trainer");
      hello.set_ranks(1);
      hello.set_server_role("server");
      hello.set_servers(1);
      if (const absl::Status met = peer.Meet(hello, deadline_ns); !met.ok()) said = Said(met);
      // Names and counts, and how many numbers follow, all of them 0.
      using Rows = std::vector<std::pair<const char*, int64_t>>;
      const std::pair<Rows, size_t> cases[] = {{{}, 0},
                                               {{{"a", 1}, {"b", 2}}, 2},
                                               {{{"a", 1}, {"c", 1}}, 2},
                                               {{{"a", 1}, {"b", -1}}, 0},
                                               {{{"a", 40000}, {"b", 40000}}, 80000},
                                               {{{"a", 1}, {"b", 2}}, 3}};
      for (const auto& [rows, numbers] : cases) {
        Request request;
        request.set_session(peer.session());
        request.set_round(kStartUp);
        request.mutable_lookups();
        for (const auto& [name, count] : rows) {
          auto& one = *request.mutable_lookups()->add_rows();
          one.set_table(name);
          one.set_count(count);
        }
        std::promise<std::string> answer;
        peer.Call(request, {grpc::Slice(std::string(numbers * sizeof(int64_t), 0))}, 30,
                  [&](const grpc::Status& status, const grpc::ByteBuffer& reply) {
                    answer.set_value(status.ok() ? std::to_string(reply.Length()) + " bytes"
                                                 : status.error_message());
                  });
        said += answer.get_future().get() + "\n";
      }
      peer.BeginLeave();
      peer.AwaitLeft(deadline_ns).IgnoreError();
      peer.Close();
    }
    queue->Shutdown();
    events.join();
    return said;
  };
  const auto outcomes = job.Run(trainer, [&](int server) {
    return Text(Serve(job.ServerOf(server), variables, initial, 1));
  });
  CHECK(outcomes.front().text ==
        "0 lookups of 0 bytes in one message\n"
        "lookups with 16 bytes of row numbers\n"
        "a lookup in table 'c' among others: it is not there, or is for programs\n"
        "a lookup of -1 rows of table 'b' among others\n"
        "2 lookups of 1440000 bytes in one message\n"
        "32 bytes\n");
  CHECK(outcomes.back().text.empty());
}

TEST_CASE("servers of one role that do not work alike") {
  TestJob job;
  job.servers = 2;
  const auto trainer = [&](int rank) { return Said(Client::Connect(job.ClientOf(rank)).status()); };
  const auto outcomes = job.Run(trainer, [&](int number) {
    std::vector<float> values(4);
    exec::Table table = Rounds::Table();
    table.data = reinterpret_cast<std::byte*>(values.data());
    const auto server = Server::Make(job.ServerOf(number));
    if (!server.ok()) return Said(server.status());
    std::vector<exec::Rounds::Handler> handlers;
    if (number == 1) handlers = {{exec::When::kPush, "w"}};
    if (const absl::Status open = (*server)->Open({table}, handlers); !open.ok()) return Said(open);
    (*server)->Next().status().IgnoreError();
    return std::string();
  });
  CHECK(outcomes.front().text ==
        "server 1 and server 0 disagree: one has rounds, and one applies every push by itself");
}

}  // namespace dtranspile::ps::test
