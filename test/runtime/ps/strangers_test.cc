// Who comes to a server and is none of its trainers: of another job, a double, without the token,
// or no program of ours at all. Turned away by name, and never the end of a job that they are not
// of.
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <random>

#include "runtime/comm/gloo/handshake.h"
#include "runtime/comm/gloo/store.h"
#include "runtime/comm/gloo/wire.h"
#include "runtime/comm/patience.h"
#include "runtime/ps/door.h"
#include "runtime/ps/settings.h"
#include "test/runtime/ps/faults.h"

namespace dtranspile::ps::test {

using comm::test::Now;

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

TEST_CASE("what a server has said counts, though the last try hears nothing") {
  // Hangs up on every caller for a while, as one with another token does, and then says nothing
  // more. A trainer tries anew every second: its last try learns nothing.
  const auto listener = comm::Listen("127.0.0.1:0");
  REQUIRE(listener.ok());
  const std::string address = comm::WithPortOf(*listener, "127.0.0.1:0");
  const TestJob job{1, 1};
  const auto outcomes = job.Run(
      [&](int rank) {
        ClientOptions options = job.ClientOf(rank);
        options.addresses = {address};
        options.timeout_seconds = 2.5;
        return Text(Client::Connect(options).status());
      },
      [&](int) -> std::string {
        for (const double end = Now() + 0.5; Now() < end; usleep(1000)) {
          const comm::Socket hung_up(accept(listener->fd(), nullptr, nullptr));
        }
        usleep(2'500'000);
        return "";
      });
  CHECK(outcomes[1].text.empty());
  CHECK_THAT(outcomes[0].text,
             Catch::Contains(address + " is not reached within 2.5 s: it hangs up; it may be of "
                                       "another job, with another token"));
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
