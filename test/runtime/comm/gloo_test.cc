// The conformance suite over Gloo (loopback).
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdio>
#include <deque>
#include <fstream>
#include <string>

#include "runtime/comm/gloo/communicator.h"
#include "runtime/comm/gloo/wire.h"
#include "test/runtime/comm/conformance.h"
#include "test/runtime/comm/processes.h"
#include "test/runtime/comm/reference.h"

namespace dtranspile::comm::test {
namespace {

// A port that was free a moment ago.
std::string FreeAddress() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  REQUIRE(bind(fd, reinterpret_cast<sockaddr*>(&address), length) == 0);
  REQUIRE(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0);
  close(fd);
  return "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
}

Rendezvous NewRendezvous() {
  Rendezvous rendezvous;
  rendezvous.backend = "gloo";
  rendezvous.job = "test";
  rendezvous.token = "00112233445566778899aabbccddeeff";
  rendezvous.store = FreeAddress();
  rendezvous.timeout_seconds = 30;
  return rendezvous;
}

TEST_CASE("gloo conforms") {
  const BackEnd back_end = {JoinGloo, NewRendezvous, 2500 << 10};
  for (const ConformanceCase& one : ConformanceCases()) {
    DYNAMIC_SECTION(one.name) { one.run(back_end); }
  }
}

TEST_CASE("gloo: ranks that disagree about the group") {
  Rendezvous rendezvous = NewRendezvous();
  rendezvous.timeout_seconds = 2;
  SECTION("on its size") {
    const auto outcomes = RunRanks(2, [&](int rank) {
      return JoinGloo(rendezvous, "world", rank, 2 + rank).status().ToString();
    });
    CHECK_THAT(outcomes[1].text, Catch::Contains("has 2 ranks for rank 0, but 3 for rank 1"));
  }
  SECTION("on who is who") {
    const auto outcomes = RunRanks(3, [&](int rank) {
      if (rank == 2) usleep(300'000);
      return JoinGloo(rendezvous, "world", rank == 2 ? 1 : rank, 3).status().ToString();
    });
    CHECK_THAT(outcomes[2].text, Catch::Contains("rank 1 of group world has been taken"));
  }
  SECTION("on the store") {
    rendezvous.store = "no-such-host.invalid:1";
    const auto outcomes =
        RunRanks(1, [&](int) { return JoinGloo(rendezvous, "world", 1, 2).status().ToString(); });
    CHECK_THAT(outcomes[0].text, Catch::Contains("no-such-host.invalid"));
  }
}

// Connects to every listening port of this machine's loopback interface, again and again, and says
// `words` (nothing, if empty), until it is killed. Keeps up to `open` connections.
void Pester(const std::string& words, size_t open) {
  std::deque<Socket> sockets;
  while (true) {
    std::ifstream table("/proc/net/tcp");
    std::string line;
    std::getline(table, line);
    while (std::getline(table, line)) {
      unsigned address = 0, port = 0, state = 0;
      if (std::sscanf(line.c_str(), " %*d: %x:%x %*x:%*x %x", &address, &port, &state) != 3 ||
          address != htonl(INADDR_LOOPBACK) || state != 0x0a)
        continue;
      Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
      sockaddr_in to = {};
      to.sin_family = AF_INET;
      to.sin_addr.s_addr = address;
      to.sin_port = htons(static_cast<uint16_t>(port));
      connect(socket.fd(), reinterpret_cast<sockaddr*>(&to), sizeof(to));
      (void)!send(socket.fd(), words.data(), words.size(), MSG_NOSIGNAL);
      sockets.push_back(std::move(socket));
      if (sockets.size() > open) sockets.pop_front();
    }
    usleep(200);
  }
}

TEST_CASE("gloo: strangers on its ports while ranks join do no harm") {
  struct Row {
    const char* name;
    std::string words;
    size_t open;
  };
  const Row rows[] = {
      {"silence", "", 50},
      {"many of them", "", 900},
      {"noise", std::string(100, '\xff'), 50},
      {"a request of the web", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 50},
      {"the begin of a proof", std::string("DTS2\0\0\0\0", 8), 50},
      {"too much", "DTS2" + std::string(100000, '\1'), 50},
  };
  for (const Row& row : rows) {
    INFO(row.name);
    const pid_t stranger = fork();
    REQUIRE(stranger >= 0);
    if (stranger == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      Pester(row.words, row.open);
    }
    const Rendezvous rendezvous = NewRendezvous();
    constexpr int kRanks = 3;
    for (int turn = 0; turn < 3; ++turn)
      RequireRanks(kRanks, [&](int rank) -> std::string {
        auto comm = JoinGloo(rendezvous, "world" + std::to_string(turn), rank, kRanks);
        if (!comm.ok()) return comm.status().ToString();
        for (const Kind kind : {Kind::kAllReduce, Kind::kAllGather, Kind::kSend}) {
          Trial trial;
          trial.kind = kind;
          trial.counts = {100'000};
          if (std::string wrong = RunTrial(**comm, trial); !wrong.empty()) return wrong;
        }
        return "";
      });
    kill(stranger, SIGKILL);
    waitpid(stranger, nullptr, 0);
  }
}

TEST_CASE("gloo: one who knows another token does not join") {
  Rendezvous rendezvous = NewRendezvous();
  rendezvous.timeout_seconds = 2;
  const auto outcomes = RunRanks(2, [&](int rank) {
    Rendezvous own = rendezvous;
    if (rank == 1) own.token = "ffeeddccbbaa99887766554433221100";
    return JoinGloo(own, "world", rank, 2).status().ToString();
  });
  CHECK_THAT(outcomes[1].text, Catch::Contains("with another token"));
  CHECK_THAT(outcomes[0].text, Catch::Contains("rank 1 of group world has not joined"));
  rendezvous.token.clear();
  CHECK_THAT(JoinGloo(rendezvous, "world", 1, 2).status().ToString(),
             Catch::Contains("token is not of 32 hexadecimal digits"));
}

}  // namespace
}  // namespace dtranspile::comm::test
