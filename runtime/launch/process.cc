#include "runtime/launch/process.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/io/filesystem.h"
#include "runtime/io/owned_folder.h"

namespace dtranspile::launch {
namespace {

// Above every descriptor that the child gives a fixed number.
constexpr int kFirstFreeFd = 10;
constexpr int kExecFailed = 127;

absl::Status Errno(const char* what) {
  return absl::InternalError(absl::StrCat(what, ": ", strerror(errno)));
}

// A descriptor that closes itself.
class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  ~Fd() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// The same file under a number that is out of the child's way.
// Become gives fixed numbers by dup2, which would close a pipe that happened to have one of these.
absl::StatusOr<Fd> Lift(Fd fd) {
  Fd lifted(fcntl(fd.get(), F_DUPFD_CLOEXEC, kFirstFreeFd));
  if (lifted.get() < 0) return Errno("no more descriptors");
  return lifted;
}

struct Pipe {
  Fd read, write;
};

absl::StatusOr<Pipe> MakePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Errno("no more pipes");
  Fd first(ends[0]), second(ends[1]);
  DT_ASSIGN_OR_RETURN(Fd read, Lift(std::move(first)));
  DT_ASSIGN_OR_RETURN(Fd write, Lift(std::move(second)));
  fcntl(read.get(), F_SETFL, O_NONBLOCK);
  return Pipe{std::move(read), std::move(write)};
}

// CONFIG may be larger than a pipe holds, and a file on disk would have to be cleared: a memory
// file is gone with its last descriptor.
absl::StatusOr<Fd> InMemory(const std::string& text) {
  Fd made(memfd_create("dtranspile-config", MFD_CLOEXEC));
  if (made.get() < 0) return Errno("no memory file");
  DT_ASSIGN_OR_RETURN(Fd file, Lift(std::move(made)));
  for (size_t at = 0; at < text.size();) {
    const ssize_t written = write(file.get(), text.data() + at, text.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return Errno("cannot write CONFIG");
    at += static_cast<size_t>(written);
  }
  return file;
}

// Between fork and exec only calls that are safe after the fork of a process with threads.
[[noreturn]] void Become(const char* binary, char* const* arguments, pid_t parent, int control,
                         int config, int log, int flight) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kExecFailed);
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int signal : io::kEndingSignals) ::signal(signal, SIG_DFL);
  // Until it hears requests itself (runtime/exec/checkpoint.h).
  ::signal(SIGUSR1, SIG_IGN);
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  dup2(control, kControlFd);
  dup2(config, kConfigFd);
  if (flight >= 0) dup2(flight, kFlightFd);
  const int last = flight >= 0 ? kFlightFd : kConfigFd;
  syscall(SYS_close_range, static_cast<unsigned>(last + 1), ~0U, 0U);
  execv(binary, arguments);
  const char* why = strerror(errno);
  if (write(STDERR_FILENO, why, strlen(why)) < 0) _exit(kExecFailed);
  _exit(kExecFailed);
}

}  // namespace

absl::StatusOr<std::string> FindWorker(const std::string& given) {
  std::string path = given;
  if (path.empty()) {
    char own[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", own, sizeof own);
    path = io::ParentOf(std::string_view(own, static_cast<size_t>(std::max<ssize_t>(length, 0)))) +
           "/dtranspile-worker";
  }
  // By the rights in effect, by which it will be started.
  struct stat info;
  if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode) ||
      faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) != 0)
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": not there or not executable; build //tools/dtranspile:dtranspile-worker"));
  return path;
}

// The child gets its configuration in a file in memory, a control channel, a log and (if any) the
// flight recorder's memory at fixed descriptor numbers, and a process group of its own. Between
// fork and exec only async-signal-safe calls are made (Become), on memory that was prepared before.
// A pidfd makes its end an event for poll.
absl::StatusOr<Process> Process::Start(const std::string& binary, const std::string& config,
                                       const std::string& flag, int flight) {
  DT_ASSIGN_OR_RETURN(Pipe control, MakePipe());
  DT_ASSIGN_OR_RETURN(Pipe log, MakePipe());
  DT_ASSIGN_OR_RETURN(const Fd file, InMemory(config));
  std::vector<std::string> words = {binary};
  if (!flag.empty()) words.push_back(flag);
  words.push_back(absl::StrCat("/proc/self/fd/", kConfigFd));
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return Errno("cannot start a process");
  if (pid == 0)
    Become(binary.c_str(), arguments.data(), parent, control.write.get(), file.get(),
           log.write.get(), flight);
  setpgid(pid, pid);  // here as well: whichever comes first
  Process process;
  process.pid_ = pid;
  process.control_ = control.read.release();
  process.log_ = log.read.release();
  process.pidfd_ = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (process.pidfd_ < 0) return Errno("pidfd_open");
  return process;
}

Process::~Process() {
  if (running()) {
    Signal(SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  CloseControl();
  CloseLog();
  if (pidfd_ >= 0) close(pidfd_);
}

Process::Process(Process&& other) noexcept { *this = std::move(other); }

Process& Process::operator=(Process&& other) noexcept {
  std::swap(pid_, other.pid_);
  std::swap(control_, other.control_);
  std::swap(log_, other.log_);
  std::swap(pidfd_, other.pidfd_);
  return *this;
}

void Process::CloseControl() {
  if (control_ >= 0) close(std::exchange(control_, -1));
}

void Process::CloseLog() {
  if (log_ >= 0) close(std::exchange(log_, -1));
}

void Process::Tell(int signal) {
  if (running()) kill(pid_, signal);
}

// To the worker's group, so that what it has started ends with it; a stopped one acts on a signal
// only once it is continued.
void Process::Signal(int signal) {
  if (!running()) return;
  kill(-pid_, signal);
  kill(-pid_, SIGCONT);
}

// Does not wait. `how` is empty where the process ended well.
bool Process::Reap(std::string& how) {
  int status = 0;
  if (!running() || waitpid(pid_, &status, WNOHANG) != pid_) return false;
  // What the worker may have started dies with it.
  kill(-pid_, SIGKILL);
  pid_ = -1;
  if (WIFSIGNALED(status))
    how = absl::StrCat("was killed by signal ", WTERMSIG(status), " (", strsignal(WTERMSIG(status)),
                       ")");
  else if (WEXITSTATUS(status) != 0) how = absl::StrCat("exited with status ", WEXITSTATUS(status));
  else how.clear();
  return true;
}

// T: stopped by a signal, t: by a debugger.
bool Process::Stopped() const {
  std::ifstream stat(absl::StrCat("/proc/", pid_, "/stat"));
  std::string line;
  std::getline(stat, line);
  // The state follows the command, which is in parentheses and may contain any character.
  const size_t end = line.rfind(')');
  return end != std::string::npos && end + 2 < line.size() &&
         (line[end + 2] == 'T' || line[end + 2] == 't');
}

}  // namespace dtranspile::launch
