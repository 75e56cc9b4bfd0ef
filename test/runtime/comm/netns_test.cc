// Gloo between "hosts": every rank lives in a network namespace of its own, joined to the others by
// a bridge of veth pairs, so nothing goes over loopback. Needs the right to make namespaces (root)
// and iproute2; skips itself with the reason otherwise.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "runtime/comm/gloo/communicator.h"
#include "test/runtime/comm/processes.h"
#include "test/runtime/comm/reference.h"

namespace dtranspile::comm::test {
namespace {

constexpr int kHosts = 3;

// Runs a program with its output swallowed; its exit status, or -1.
int Call(std::vector<std::string> words) {
  const pid_t pid = fork();
  if (pid == 0) {
    const int nothing = open("/dev/null", O_RDWR);
    for (const int fd : {0, 1, 2}) dup2(nothing, fd);
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

// Three namespaces with addresses 10.77.9.1 …, and a fourth that holds the bridge; gone with the
// object.
class Hosts {
 public:
  Hosts() {
    for (int i = 0; i <= kHosts; ++i) {
      if (!Ip({"netns", "add", Name(i)})) return;
    }
    Ip({"-n", Name(kHosts), "link", "add", "bridge0", "type", "bridge"});
    if (problem_.empty()) Ip({"-n", Name(kHosts), "link", "set", "bridge0", "up"});
    for (int i = 0; i < kHosts && problem_.empty(); ++i) Plug(i);
  }
  ~Hosts() {
    for (int i = 0; i <= kHosts; ++i) Call({"ip", "netns", "del", Name(i)});
  }

  const std::string& problem() const { return problem_; }
  static std::string Address(int host) { return "10.77.9." + std::to_string(host + 1); }

  // Moves this process there.
  std::string Enter(int host) const {
    const int fd = open(("/run/netns/" + Name(host)).c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0 || setns(fd, CLONE_NEWNET) != 0) return "cannot enter the namespace";
    close(fd);
    return "";
  }

  void Unplug(int host) const {
    Call({"ip", "-n", Name(kHosts), "link", "set", "port" + std::to_string(host), "down"});
  }

 private:
  std::string Name(int host) const {
    return "dt" + std::to_string(owner_) + "h" + std::to_string(host);
  }

  bool Ip(std::vector<std::string> words) {
    if (!problem_.empty()) return false;
    words.insert(words.begin(), "ip");
    const int code = Call(words);
    if (code == 0) return true;
    for (const std::string& word : words) problem_ += word + " ";
    problem_ += "ended with " + std::to_string(code);
    return false;
  }

  void Plug(int host) {
    const std::string port = "port" + std::to_string(host);
    Ip({"-n", Name(kHosts), "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns",
        Name(host)});
    Ip({"-n", Name(kHosts), "link", "set", port, "master", "bridge0", "up"});
    Ip({"-n", Name(host), "addr", "add", Address(host) + "/24", "dev", "eth0"});
    Ip({"-n", Name(host), "link", "set", "eth0", "up"});
    Ip({"-n", Name(host), "link", "set", "lo", "up"});
  }

  const pid_t owner_ = getpid();  // ranks are other processes
  std::string problem_;
};

Rendezvous RendezvousOf(int host, bool by_interface) {
  Rendezvous rendezvous;
  rendezvous.backend = "gloo";
  rendezvous.job = "hosts";
  rendezvous.token = "00112233445566778899aabbccddeeff";
  rendezvous.store = Hosts::Address(0) + ":29000";
  rendezvous.interface = by_interface ? "eth0" : Hosts::Address(host);
  rendezvous.timeout_seconds = 20;
  return rendezvous;
}

TEST_CASE("gloo between hosts") {
  const Hosts hosts;
  if (!hosts.problem().empty()) {
    printf("SKIPPED gloo between hosts: no network namespaces here: %s\n", hosts.problem().c_str());
    return;
  }
  SECTION("every kind") {
    for (const bool by_interface : {false, true}) {
      RequireRanks(kHosts, [&](int rank) -> std::string {
        if (std::string wrong = hosts.Enter(rank); !wrong.empty()) return wrong;
        auto comm = JoinGloo(RendezvousOf(rank, by_interface), "world", rank, kHosts);
        if (!comm.ok()) return comm.status().ToString();
        for (const Kind kind : {Kind::kAllReduce, Kind::kReduce, Kind::kBroadcast, Kind::kAllGather,
                                Kind::kReduceScatter, Kind::kAllToAll, Kind::kSend}) {
          for (const int64_t count : {1, 1000, 1'000'000}) {
            Trial trial;
            trial.kind = kind;
            trial.counts = {count};
            if (std::string wrong = RunTrial(**comm, trial); !wrong.empty()) return wrong;
          }
        }
        return "";
      });
    }
  }
  SECTION("groups that are not led by the host of the store") {
    RequireRanks(kHosts, [&](int rank) -> std::string {
      if (std::string wrong = hosts.Enter(rank); !wrong.empty()) return wrong;
      auto world = JoinGloo(RendezvousOf(rank, false), "world", rank, kHosts);
      if (!world.ok()) return world.status().ToString();
      if (rank == 0) return RunTrial(**world, Trial{});
      auto pair = JoinGloo(RendezvousOf(rank, false), "pair", rank - 1, 2);
      if (!pair.ok()) return pair.status().ToString();
      if (std::string wrong = RunTrial(**pair, Trial{}); !wrong.empty()) return wrong;
      return RunTrial(**world, Trial{});
    });
  }
  SECTION("a host that dies, and one whose cable is pulled") {
    for (const bool cable : {false, true}) {
      const auto outcomes =
          RunRanks(kHosts,
                   [&](int rank) -> std::string {
                     if (std::string wrong = hosts.Enter(rank); !wrong.empty()) return wrong;
                     Rendezvous rendezvous = RendezvousOf(rank, false);
                     rendezvous.timeout_seconds = 3;
                     auto comm = JoinGloo(rendezvous, "world", rank, kHosts);
                     if (!comm.ok()) return comm.status().ToString();
                     if (std::string wrong = RunTrial(**comm, Trial{}); !wrong.empty())
                       return wrong;
                     if (rank == 2) {
                       usleep(100'000);
                       if (cable) hosts.Unplug(2);
                       if (!cable) kill(getpid(), SIGKILL);
                       sleep(60);
                     }
                     const double begin = Now();
                     const std::string wrong = RunTrial(**comm, Trial{});
                     return Now() - begin < 8 ? "as it should: " + wrong : "too late: " + wrong;
                   },
                   {2});
      for (int rank = 0; rank < 2; ++rank) {
        INFO(outcomes[rank].text);
        CHECK_THAT(outcomes[rank].text, Catch::StartsWith("as it should: all_reduce"));
        CHECK_THAT(outcomes[rank].text, Catch::Contains("rank 2"));
      }
    }
  }
}

}  // namespace
}  // namespace dtranspile::comm::test
