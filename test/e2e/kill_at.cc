// kill_at K PATTERN COMMAND...: runs a command and kills it before the K-th of its system calls
// that change files, counted from the first one whose path has PATTERN in it. Exit status: 0
// killed, 3 it had ended well before, 1 it had failed.
#include <sys/ptrace.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "test/killed_at.h"

int main(int argc, char** argv) {
  using dtranspile::test::Ended;
  if (argc < 4) return std::fprintf(stderr, "usage: kill_at K PATTERN COMMAND...\n"), 2;
  const pid_t child = fork();
  if (child == 0) {
    ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    raise(SIGSTOP);
    execv(argv[3], argv + 3);
    _exit(127);
  }
  switch (dtranspile::test::KillAt(child, std::atoi(argv[1]), argv[2])) {
    case Ended::kKilled: return 0;
    case Ended::kWell: return 3;
    case Ended::kBadly: return 1;
  }
}
