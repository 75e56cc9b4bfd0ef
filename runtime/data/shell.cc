#include "runtime/data/shell.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/io/errno_status.h"

namespace dtranspile::data {
namespace {

constexpr int kNoShell = 127;

using Clock = std::chrono::steady_clock;

int MsUntil(Clock::time_point end) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, INT_MAX));
}

// Of the leader: its parent has ended.
void EndGroup(int) { kill(0, SIGKILL); }

// As a program expects them that is started by a shell.
void ResetSignals() {
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

int WaitFor(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

// The process that leads the group: starts the shell, waits for it, ends as it does. Only calls
// that are safe after the fork of a process with threads.
[[noreturn]] void Lead(const char* words, pid_t parent, int output) {
  setpgid(0, 0);
  ResetSignals();
  ::signal(SIGTERM, EndGroup);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(kNoShell);
  dup2(output, STDOUT_FILENO);
  // Ends of other pipes too: their readers wait for the end of the output.
  syscall(SYS_close_range, static_cast<unsigned>(STDERR_FILENO + 1), ~0U, 0U);
  const pid_t shell = _Fork();
  if (shell == 0) {
    ResetSignals();
    execl("/bin/sh", "sh", "-c", words, nullptr);
    _exit(kNoShell);
  }
  close(STDOUT_FILENO);  // the reader is to see the end of the output
  if (shell < 0) _exit(kNoShell);
  const int status = WaitFor(shell);
  if (WIFEXITED(status)) _exit(WEXITSTATUS(status));
  ::signal(WTERMSIG(status), SIG_DFL);
  raise(WTERMSIG(status));
  _exit(kNoShell);
}

}  // namespace

// The command runs in a process group of its own, so that it can be ended with all that it has
// started; setpgid is called on both sides, as either may come first. Its output is a pipe.
absl::StatusOr<ShellCommand> ShellCommand::Start(const std::string& words, int64_t limit_seconds) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return io::ErrnoStatus(errno, "a pipe from the shell");
  const pid_t parent = getpid();
  const pid_t leader = fork();
  const int error = errno;
  if (leader == 0) Lead(words.c_str(), parent, ends[1]);
  close(ends[1]);
  ShellCommand command(leader, ends[0], limit_seconds);
  if (leader < 0) return io::ErrnoStatus(error, "the shell does not start");
  setpgid(leader, leader);  // whoever comes first
  return command;
}

ShellCommand::ShellCommand(ShellCommand&& other) noexcept
    : group_(other.group_), output_(other.output_), limit_seconds_(other.limit_seconds_) {
  other.group_ = other.output_ = -1;
}

ShellCommand::~ShellCommand() {
  if (output_ >= 0) close(output_);
  if (group_ <= 0) return;
  kill(-group_, SIGKILL);
  WaitFor(group_);
}

absl::Status ShellCommand::Silent(const char* what) const {
  return absl::DeadlineExceededError(absl::StrCat(what, " for ", limit_seconds_, " s"));
}

// What is there when this process goes on after a pause of its own counts, however long that was:
// poll looks before it says that nothing came.
absl::StatusOr<size_t> ShellCommand::Read(char* buffer, size_t size) {
  const Clock::time_point end = Clock::now() + std::chrono::seconds(limit_seconds_);
  pollfd output = {output_, POLLIN, 0};
  int ready = 0;
  while ((ready = poll(&output, 1, MsUntil(end))) < 0 && errno == EINTR) {
  }
  if (ready == 0) return Silent("has given nothing");
  ssize_t got = 0;
  while ((got = read(output_, buffer, size)) < 0 && errno == EINTR) {
  }
  if (got < 0) return io::ErrnoStatus(errno, "reading what the shell gives");
  return static_cast<size_t>(got);
}

// Waits for the leader without reaping it: as long as it is a zombie its number cannot be given to
// another process, and killing the group by that number is safe.
absl::StatusOr<std::string> ShellCommand::End() {
  constexpr int kLookMs = 5;
  const Clock::time_point end = Clock::now() + std::chrono::seconds(limit_seconds_);
  for (;;) {
    const bool last = MsUntil(end) == 0;
    siginfo_t info = {};
    const int options = WEXITED | WNOWAIT | WNOHANG;
    const int done = waitid(P_PID, static_cast<id_t>(group_), &info, options);
    if (done == 0 && info.si_pid == group_) break;
    if (done < 0 && errno != EINTR) return io::ErrnoStatus(errno, "waiting for the shell");
    if (last) return Silent("has closed its output and has not ended");
    poll(nullptr, 0, kLookMs);
  }
  // What it has left in the background; the leader is not reaped yet, so that the number is its.
  kill(-group_, SIGKILL);
  const int status = WaitFor(group_);
  group_ = -1;
  if (WIFSIGNALED(status))
    return absl::StrCat("signal ", WTERMSIG(status), " (", strsignal(WTERMSIG(status)), ")");
  return WEXITSTATUS(status) == 0 ? std::string() : absl::StrCat(WEXITSTATUS(status));
}

}  // namespace dtranspile::data
