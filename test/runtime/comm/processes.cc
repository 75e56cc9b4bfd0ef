#include "test/runtime/comm/processes.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <exception>

namespace dtranspile::comm::test {
namespace {

struct Child {
  pid_t pid = 0;
  int pipe = -1;
  bool ended = false;
};

[[noreturn]] void ChildMain(int rank, int out, pid_t parent,
                            const std::function<std::string(int)>& body) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  std::string text;
  try {
    text = body(rank);
  } catch (const std::exception& e) {
    text = std::string("exception: ") + e.what();
  } catch (...) {
    text = "unknown exception";
  }
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = write(out, text.data() + done, text.size() - done);
    if (n <= 0) break;
    done += n;
  }
  _exit(0);
}

void Drain(Child& child, Outcome& outcome) {
  char buffer[4096];
  ssize_t n;
  while ((n = read(child.pipe, buffer, sizeof(buffer))) > 0) outcome.text.append(buffer, n);
}

}  // namespace

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::vector<Outcome> RunRanks(int ranks, const std::function<std::string(int rank)>& body,
                              std::vector<int> abandoned, double seconds) {
  std::vector<Child> children(ranks);
  std::vector<Outcome> outcomes(ranks);
  const pid_t parent = getpid();
  for (int rank = 0; rank < ranks; ++rank) {
    int ends[2];
    REQUIRE(pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
    const pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
      fcntl(ends[1], F_SETFL, 0);
      ChildMain(rank, ends[1], parent, body);
    }
    close(ends[1]);
    children[rank] = {pid, ends[0], false};
  }
  const double deadline = Now() + seconds;
  const auto waited_for = [&](int rank) {
    return std::find(abandoned.begin(), abandoned.end(), rank) == abandoned.end();
  };
  while (true) {
    bool open = false;
    for (int rank = 0; rank < ranks; ++rank) {
      Child& child = children[rank];
      if (child.ended) continue;
      Drain(child, outcomes[rank]);
      int status = 0;
      if (waitpid(child.pid, &status, WNOHANG) == child.pid) {
        Drain(child, outcomes[rank]);
        child.ended = true;
        outcomes[rank].signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
      } else {
        open |= waited_for(rank);
      }
    }
    if (!open || Now() > deadline) break;
    usleep(2000);
  }
  for (int rank = 0; rank < ranks; ++rank) {
    Child& child = children[rank];
    if (!child.ended) {
      outcomes[rank].late = waited_for(rank);
      kill(child.pid, SIGKILL);
      waitpid(child.pid, nullptr, 0);
    }
    close(child.pipe);
  }
  return outcomes;
}

void RequireRanks(int ranks, const std::function<std::string(int rank)>& body, double seconds) {
  const std::vector<Outcome> outcomes = RunRanks(ranks, body, {}, seconds);
  for (int rank = 0; rank < ranks; ++rank) {
    INFO("rank " << rank << " of " << ranks << ": " << outcomes[rank].text);
    CHECK(outcomes[rank].text.empty());
    CHECK(outcomes[rank].signal == 0);
    CHECK_FALSE(outcomes[rank].late);
  }
}

}  // namespace dtranspile::comm::test
