// The rendezvous store of the Gloo back end: what it does, and what strangers on its port cannot
// do.
#include "runtime/comm/gloo/store.h"

#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "runtime/comm/gloo/handshake.h"
#include "runtime/comm/gloo/wire.h"
#include "runtime/comm/patience.h"
#include "runtime/comm/token.h"
#include "test/runtime/comm/processes.h"

namespace dtranspile::comm::test {
namespace {

constexpr char kToken[] = "00112233445566778899aabbccddeeff";

std::unique_ptr<StoreServer> NewServer() {
  absl::StatusOr<std::unique_ptr<StoreServer>> server = StoreServer::Start("127.0.0.1:0", kToken);
  REQUIRE(server.ok());
  return *std::move(server);
}

Socket ConnectTo(const StoreServer& server) {
  absl::StatusOr<AddressList> list = ResolveAddress(server.address(), false);
  REQUIRE(list.ok());
  Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(connect(socket.fd(), (*list)->ai_addr, (*list)->ai_addrlen) == 0);
  return socket;
}

// Of a client that has proven to be of the job.
Socket Member(const StoreServer& server) {
  constexpr int64_t kLimitNs = 5'000'000'000;
  absl::StatusOr<Socket> socket =
      Call(server.address(), *KeyOfToken(kToken), kStorePurpose, 0, NowNs() + kLimitNs);
  REQUIRE(socket.ok());
  fcntl(socket->fd(), F_SETFL, 0);
  return *std::move(socket);
}

// Sends bytes and waits until the server hangs up; what it said.
std::string Talk(const Socket& socket, const std::string& bytes) {
  (void)!send(socket.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  shutdown(socket.fd(), SHUT_WR);
  std::string answer;
  char buffer[4096];
  ssize_t n;
  while ((n = recv(socket.fd(), buffer, sizeof(buffer), 0)) > 0) answer.append(buffer, n);
  return answer;
}

std::string Bytes(const StoreRequest& request, const std::string& rest = "") {
  return std::string(reinterpret_cast<const char*>(&request), sizeof(request)) + rest;
}

TEST_CASE("store: set, get, claim") {
  const auto server = NewServer();
  const StoreClient client(server->address(), kToken);
  CHECK(client.Set("a", "1", 5).ok());
  CHECK(*client.Get("a", 5) == "1");
  CHECK(client.Set("a", "2", 5).ok());
  CHECK(*client.Get("a", 5) == "2");
  CHECK(client.Claim("b", std::string("\0x\0", 3), 5).ok());
  CHECK(absl::IsAlreadyExists(client.Claim("b", "other", 5)));
  CHECK(*client.Get("b", 5) == std::string("\0x\0", 3));
  CHECK(client.Set("", "", 5).ok());
  CHECK(client.Get("", 5)->empty());
  const std::string large(kMaxValue, 'v');
  CHECK(client.Set("large", large, 5).ok());
  CHECK(*client.Get("large", 5) == large);
  CHECK(client.Set(std::string(kMaxKey + 1, 'k'), "", 5).message() ==
        "store key '" + std::string(80, 'k') +
            "' of 1025 bytes with a value of 0: the store takes 1024 and 1048576");
  absl::Status full;
  for (int i = 0; full.ok() && i < 100; ++i) full = client.Set(std::to_string(i), large, 5);
  CHECK(full.message() == "the store at " + server->address() + " is full");
}

TEST_CASE("store: get waits until somebody sets") {
  const auto server = NewServer();
  const StoreClient client(server->address(), kToken);
  std::thread setter([&] {
    usleep(200'000);
    CHECK(client.Set("late", "here", 5).ok());
  });
  const double begin = Now();
  CHECK(*client.Get("late", 5) == "here");
  CHECK(Now() - begin > 0.15);
  setter.join();
  const absl::Status missing = client.Get("never", 0.3).status();
  CHECK(absl::IsDeadlineExceeded(missing));
  CHECK_THAT(std::string(missing.message()), Catch::Contains("'never'"));
}

TEST_CASE("store: one that is not there, or is something else") {
  std::string address;
  {
    const auto server = NewServer();
    address = server->address();
    CHECK(absl::IsAlreadyExists(StoreServer::Start(address, kToken).status()));
  }
  const double begin = Now();
  const absl::Status gone = StoreClient(address, kToken).Get("a", 0.5).status();
  CHECK(absl::IsDeadlineExceeded(gone));
  CHECK_THAT(std::string(gone.message()), Catch::Contains(address));
  CHECK(Now() - begin < 3);
  CHECK(absl::IsNotFound(StoreServer::Start("192.0.2.1:0", kToken).status()));
  CHECK(StoreServer::Start("no port", kToken).status().message() ==
        "the address 'no port' is not of the form host:port");
  CHECK(absl::IsInvalidArgument(StoreServer::Start("127.0.0.1:http-or-so", kToken).status()));

  // A listener that answers with noise.
  const Socket listener(::socket(AF_INET, SOCK_STREAM, 0));
  REQUIRE(listen(listener.fd(), 1) == 0);
  sockaddr_storage bound;
  socklen_t length = sizeof(bound);
  REQUIRE(getsockname(listener.fd(), reinterpret_cast<sockaddr*>(&bound), &length) == 0);
  char port[16];
  REQUIRE(getnameinfo(reinterpret_cast<sockaddr*>(&bound), length, nullptr, 0, port, sizeof(port),
                      NI_NUMERICSERV) == 0);
  std::thread noise([&] {
    for (int i = 0; i < 2; ++i) {
      const Socket client(accept(listener.fd(), nullptr, nullptr));
      (void)!write(client.fd(), "HTTP/1.1 400 Bad Request\r\n\r\n", 28);
      char buffer[4096];
      (void)!read(client.fd(), buffer, sizeof(buffer));
    }
  });
  const absl::Status foreign =
      StoreClient(std::string("127.0.0.1:") + port, kToken).Get("a", 2).status();
  CHECK(Call(std::string("127.0.0.1:") + port, *KeyOfToken(kToken), kStorePurpose, 0,
             NowNs() + 2'000'000'000)
            .status()
            .message() == "not a member of this job");
  noise.join();
  CHECK(absl::IsFailedPrecondition(foreign));
  CHECK_THAT(std::string(foreign.message()), Catch::Contains("is not the store of this job"));
}

TEST_CASE("store: strangers are disconnected and change nothing") {
  const auto server = NewServer();
  const StoreClient client(server->address(), kToken);
  REQUIRE(client.Set("a", "1", 5).ok());
  StoreRequest set;
  set.operation = kStoreSet;
  set.key_bytes = 1;
  set.value_bytes = 1;
  StoreRequest long_key = set, long_value = set, unknown = set, huge = set, other = set;
  long_key.key_bytes = kMaxKey + 1;
  long_value.value_bytes = kMaxValue + 1;
  unknown.operation = 77;
  huge.key_bytes = huge.value_bytes = 0xffffffff;
  other.magic = 0x20544547;
  const std::vector<std::string> messages = {
      "",
      "G",
      "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
      std::string(100000, '\xff'),
      Bytes(set),  // ends before its key
      Bytes(set, "a").substr(0, 10),
      Bytes(set, "a2 and more"),  // longer than it says
      Bytes(long_key, "a2"),
      Bytes(long_value, "a2"),
      Bytes(unknown, "a2"),
      Bytes(huge, "a2"),
      Bytes(other, "a2"),
  };
  // From members; a stranger gets a greeting and no further, with a request that would be right
  // too.
  for (const std::string& message : messages) CHECK(Talk(Member(*server), message).empty());
  const std::string greeting = Talk(ConnectTo(*server), "");
  for (const std::string& message : messages)
    CHECK(Talk(ConnectTo(*server), message).size() == greeting.size());
  CHECK(Talk(ConnectTo(*server), Bytes(set, "a2")).size() == greeting.size());
  std::mt19937 random(5);
  for (int i = 0; i < 300; ++i) {
    std::string message = Bytes(set, "b2");
    for (int k = 0; k < 4; ++k) message[random() % 12] = static_cast<char>(random());
    Talk(Member(*server), message);
  }
  CHECK(*client.Get("a", 5) == "1");
}

TEST_CASE("store: members without the right token are no members") {
  const auto server = NewServer();
  REQUIRE(StoreClient(server->address(), kToken).Set("a", "1", 5).ok());
  const double begin = Now();
  const absl::Status other =
      StoreClient(server->address(), "ffeeddccbbaa99887766554433221100").Set("a", "2", 1);
  CHECK(absl::IsDeadlineExceeded(other));
  CHECK_THAT(std::string(other.message()), Catch::Contains("with another token"));
  CHECK(Now() - begin < 3);
  for (const char* token : {"", "0011", "00112233445566778899aabbccddeefg"}) {
    const absl::Status none = StoreClient(server->address(), token).Set("a", "2", 1);
    CHECK(absl::IsInvalidArgument(none));
    CHECK_THAT(std::string(none.message()), Catch::Contains("not of 32 hexadecimal digits"));
    CHECK(absl::IsInvalidArgument(StoreServer::Start("127.0.0.1:0", token).status()));
  }
  CHECK(*StoreClient(server->address(), kToken).Get("a", 5) == "1");
}

TEST_CASE("store: half a proof, a proof that was heard before, and one for something else") {
  const auto server = NewServer();
  const Key key = *KeyOfToken(kToken);
  const int64_t deadline_ns = NowNs() + 20'000'000'000;
  // What a member says to a store of the same job that writes it down.
  absl::StatusOr<Socket> listener = Listen("127.0.0.1:0");
  REQUIRE(listener.ok());
  std::string heard;
  std::thread ear([&] {
    pollfd caller = {listener->fd(), POLLIN, 0};
    poll(&caller, 1, 5000);
    const Socket socket(accept(listener->fd(), nullptr, nullptr));
    Welcome greeting(socket, key, kStorePurpose);
    char buffer[4096];
    const ssize_t n = recv(socket.fd(), buffer, sizeof(buffer), 0);
    heard.assign(buffer, n > 0 ? static_cast<size_t>(n) : 0);
  });
  CHECK(!Call(WithPortOf(*listener, "127.0.0.1:0"), key, kStorePurpose, 0, NowNs() + 1'000'000'000)
             .ok());
  ear.join();
  REQUIRE(heard.size() == 40);
  const size_t greeting = Talk(ConnectTo(*server), "").size();
  for (size_t part = 1; part <= heard.size(); ++part)
    CHECK(Talk(ConnectTo(*server), heard.substr(0, part)).size() == greeting);
  // For a connection between ranks, which is none to the store.
  CHECK(absl::IsDeadlineExceeded(
      Call(server->address(), key, "pair 0 test/world", 0, NowNs() + 500'000'000).status()));
  CHECK(Call(server->address(), key, kStorePurpose, 0, deadline_ns).ok());
}

TEST_CASE("token: drawn anew each time; its hash is the published one") {
  const absl::StatusOr<std::string> one = NewToken(), other = NewToken();
  REQUIRE(one.ok());
  REQUIRE(other.ok());
  CHECK(*one != *other);
  CHECK(KeyOfToken(*one).ok());
  CHECK(*KeyOfToken("00112233445566778899aabbccddeeff") ==
        Key{0x0011223344556677, 0x8899aabbccddeeff});
  // Test vectors of the reference: key 00 01 … 0f, texts of 0, 1 and 15 bytes 00 01 ….
  const Key key = {0x0706050403020100, 0x0f0e0d0c0b0a0908};
  std::string text;
  for (char c = 0; c < 15; ++c) text += c;
  CHECK(KeyedHash(key, "") == Proof{0xe6a825ba047f81a3, 0x930255c71472f66d});
  CHECK(KeyedHash(key, text.substr(0, 1)) == Proof{0x44af996bd8c187da, 0x45fc229b11597634});
  CHECK(KeyedHash(key, text) == Proof{0x11a8b03399e99354, 0xd9c3cf970fec087e});
  CHECK(SameProof({1, 2}, {1, 2}));
  CHECK(!SameProof({1, 2}, {1, 3}));
  CHECK(!SameProof({0, 2}, {1, 2}));
}

TEST_CASE("store: many that connect and say nothing do not keep others out") {
  const auto server = NewServer();
  std::vector<Socket> silent;
  for (int i = 0; i < 500; ++i) silent.push_back(ConnectTo(*server));
  const StoreClient client(server->address(), kToken);
  CHECK(client.Set("a", "1", 5).ok());
  CHECK(*client.Get("a", 5) == "1");
}

TEST_CASE("store: its memory is limited") {
  const auto server = NewServer();
  const StoreClient client(server->address(), kToken);
  const std::string large(kMaxValue, 'v');
  absl::Status status;
  int count = 0;
  while (status.ok() && count < 100) status = client.Set("key" + std::to_string(count++), large, 5);
  CHECK(absl::IsResourceExhausted(status));
  CHECK(count < 70);
  CHECK(client.Set("key0", "small again", 5).ok());
  CHECK(*client.Get("key0", 5) == "small again");
}

}  // namespace
}  // namespace dtranspile::comm::test
