// Faults of the stages of a pipeline, as real processes: what each ends with, in which time.
#include <dirent.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstdio>
#include <set>

#include "test/runtime/launch/role_jobs.h"

namespace dtranspile::launch {
namespace {

// Ports that a process listens at: sockets among its files that the system's table has.
std::vector<uint16_t> PortsOf(pid_t process) {
  const std::string folder = "/proc/" + std::to_string(process);
  std::set<std::string> sockets;
  std::error_code gone;
  for (const auto& file : std::filesystem::directory_iterator(folder + "/fd", gone)) {
    const std::string link = std::filesystem::read_symlink(file, gone);
    if (link.starts_with("socket:[")) sockets.insert(link.substr(8, link.size() - 9));
  }
  std::vector<uint16_t> ports;
  std::ifstream table(folder + "/net/tcp");
  for (std::string line; std::getline(table, line);) {
    unsigned port = 0, state = 0;
    char inode[32] = {};
    if (std::sscanf(line.c_str(), " %*d: %*x:%x %*x:%*x %x %*s %*s %*s %*s %*s %31s", &port, &state,
                    inode) == 3 &&
        state == 0x0a && sockets.count(inode))
      ports.push_back(static_cast<uint16_t>(port));
  }
  return ports;
}

// Says `words` at every port of the launcher and its workers, again and again; the last of the
// connections stay open. Does not return.
[[noreturn]] void Pester(pid_t launcher, const std::string& words) {
  const std::string list =
      "/proc/" + std::to_string(launcher) + "/task/" + std::to_string(launcher) + "/children";
  std::vector<int> open;
  while (true) {
    std::vector<pid_t> processes = {launcher};
    std::ifstream in(list);
    for (pid_t pid; in >> pid;) processes.push_back(pid);
    for (const pid_t process : processes)
      for (const uint16_t port : PortsOf(process)) {
        const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        sockaddr_in to = {};
        to.sin_family = AF_INET;
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        to.sin_port = htons(port);
        connect(socket, reinterpret_cast<sockaddr*>(&to), sizeof(to));
        (void)!send(socket, words.data(), words.size(), MSG_NOSIGNAL);
        open.push_back(socket);
        if (open.size() > 50) {
          close(open.front());
          open.erase(open.begin());
        }
      }
    usleep(500);
  }
}

}  // namespace

TEST_CASE("a stage that is killed, stopped or late ends the job in time, and is named") {
  const auto [signal, stage, backend] =
      GENERATE(table<int, size_t, const char*>({{SIGKILL, 0, "shm"},
                                                {SIGKILL, 1, "shm"},
                                                {SIGSTOP, 0, "shm"},
                                                {SIGSTOP, 1, "shm"},
                                                {SIGKILL, 0, "gloo"},
                                                {SIGSTOP, 1, "gloo"}}));
  Place place;
  AddPipeline(place);
  RunForever(place);
  place.spec.backend = backend;
  place.spec.timeout_seconds = 3;
  place.Launch();
  place.WaitForSteps();
  const auto begin = Clock::now();
  kill(place.workers[stage], signal);
  REQUIRE(place.Finish() == 4);
  CHECK(SecondsSince(begin) < (signal == SIGKILL ? 5 : 3 + 5));
  INFO(place.report["error"].dump());
  CHECK(place.report["error"]["rank"] == stage);
  const std::string name =
      "trainer " + std::to_string(stage) + " (trainer[pp=" + std::to_string(stage) + "]): ";
  CHECK(place.Message().find(name +
                             (signal == SIGKILL ? "was killed by signal 9" : "is stopped")) == 0);
  CHECK(place.Message().find(" others waited for it in op 0:") != std::string::npos);
}

TEST_CASE("a stage that does not come to the meeting ends the job in time, and is named") {
  Place place;
  AddPipeline(place);
  place.spec.timeout_seconds = 2;
  place.Begin("if grep -q 'pp=1' /proc/self/fd/4; then kill -STOP $$; fi");
  const auto begin = Clock::now();
  REQUIRE(place.Run() == 4);
  CHECK(SecondsSince(begin) < 2 + 6);
  CHECK(place.report["error"]["rank"] == 1);
}

TEST_CASE("garbage on the ports of stages does no harm, while they join and while they step") {
  const std::string words =
      GENERATE(as<std::string>{}, std::string(100, '\xff'), "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
               std::string("DTS2\0\0\0\0", 8), "");
  Place place;
  AddPipeline(place);
  RunForever(place);
  place.spec.backend = "gloo";
  place.spec.steps = 3000;
  const auto begin = Clock::now();
  place.Launch();
  const pid_t stranger = fork();
  REQUIRE(stranger >= 0);
  if (stranger == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Pester(place.launcher, words);
  }
  const int status = place.Finish();
  kill(stranger, SIGKILL);
  waitpid(stranger, nullptr, 0);
  INFO(place.report["error"].dump() << ReadText(place.Path("log")));
  CHECK(status == 0);
  CHECK(place.report["ranks"][1]["step_ms"].size() == 3000);
  CHECK(SecondsSince(begin) < 60);
}

TEST_CASE("a plan that is written anew while the job starts is found out") {
  Place place;
  AddPipeline(place);
  // The worker sees another plan than the launcher has read.
  place.Begin("sed -i 's/pp=1\\]/pp=2]/' " + place.Path("stage1/plan.json"));
  const auto begin = Clock::now();
  REQUIRE(place.Run() == 4);
  CHECK(SecondsSince(begin) < 8);
  CHECK(place.Message().find("is a plan of class 'trainer[pp=2]', this rank is to run "
                             "'trainer[pp=1]'") != std::string::npos);
}

TEST_CASE("a stage with the plan of another job is found out") {
  Place place;
  AddPipeline(place);
  place.Begin("sed -i 's/sha256:0/sha256:1/' " + place.Path("stage1/plan.json"));
  const auto begin = Clock::now();
  REQUIRE(place.Run() == 4);
  CHECK(SecondsSince(begin) < 8);
  INFO(place.report["error"].dump());
  CHECK(place.report["error"]["rank"] == 1);
  CHECK(place.Message().find("is a plan of job 'sha256:1', this rank is to run 'sha256:0'") !=
        std::string::npos);
}

}  // namespace dtranspile::launch
