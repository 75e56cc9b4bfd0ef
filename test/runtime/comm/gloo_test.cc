// The conformance suite over Gloo (loopback).
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>

#include "runtime/comm/gloo/communicator.h"
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

}  // namespace
}  // namespace dtranspile::comm::test
