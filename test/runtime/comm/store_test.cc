// The rendezvous store of the Gloo back end: what it does, and what strangers on its port cannot
// do.
#include "runtime/comm/gloo/store.h"

#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "runtime/comm/gloo/wire.h"
#include "test/runtime/comm/processes.h"

namespace dtranspile::comm::test {
namespace {

std::unique_ptr<StoreServer> NewServer() {
  absl::StatusOr<std::unique_ptr<StoreServer>> server = StoreServer::Start("127.0.0.1:0");
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

// Sends bytes and waits until the server hangs up; what it said.
std::string Talk(const StoreServer& server, const std::string& bytes) {
  const Socket socket = ConnectTo(server);
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
  const StoreClient client(server->address());
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
}

TEST_CASE("store: get waits until somebody sets") {
  const auto server = NewServer();
  const StoreClient client(server->address());
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
    CHECK(absl::IsAlreadyExists(StoreServer::Start(address).status()));
  }
  const double begin = Now();
  const absl::Status gone = StoreClient(address).Get("a", 0.5).status();
  CHECK(absl::IsDeadlineExceeded(gone));
  CHECK_THAT(std::string(gone.message()), Catch::Contains(address));
  CHECK(Now() - begin < 3);
  CHECK(absl::IsNotFound(StoreServer::Start("192.0.2.1:0").status()));
  CHECK(absl::IsInvalidArgument(StoreServer::Start("no port").status()));
  CHECK(absl::IsInvalidArgument(StoreServer::Start("127.0.0.1:http-or-so").status()));

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
    const Socket client(accept(listener.fd(), nullptr, nullptr));
    char buffer[4096];
    (void)!read(client.fd(), buffer, sizeof(buffer));
    (void)!write(client.fd(), "HTTP/1.1 400 Bad Request\r\n\r\n", 28);
  });
  const absl::Status foreign = StoreClient(std::string("127.0.0.1:") + port).Get("a", 2).status();
  noise.join();
  CHECK(absl::IsFailedPrecondition(foreign));
  CHECK_THAT(std::string(foreign.message()), Catch::Contains("is not the store of a job"));
}

TEST_CASE("store: strangers are disconnected and change nothing") {
  const auto server = NewServer();
  const StoreClient client(server->address());
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
  for (const std::string& message : messages) CHECK(Talk(*server, message).empty());
  std::mt19937 random(5);
  for (int i = 0; i < 300; ++i) {
    std::string message = Bytes(set, "b2");
    for (int k = 0; k < 4; ++k) message[random() % 12] = static_cast<char>(random());
    Talk(*server, message);
  }
  CHECK(*client.Get("a", 5) == "1");
}

TEST_CASE("store: many that connect and say nothing do not keep others out") {
  const auto server = NewServer();
  std::vector<Socket> silent;
  for (int i = 0; i < 500; ++i) silent.push_back(ConnectTo(*server));
  const StoreClient client(server->address());
  CHECK(client.Set("a", "1", 5).ok());
  CHECK(*client.Get("a", 5) == "1");
}

TEST_CASE("store: its memory is limited") {
  const auto server = NewServer();
  const StoreClient client(server->address());
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
