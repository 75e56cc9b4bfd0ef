#include "runtime/trial/command.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/launch/process.h"

namespace dtranspile::trial {
namespace {

using Clock = std::chrono::steady_clock;

// What a process writes to one of its pipes.
struct Stream {
  int fd;
  std::string text;
  size_t most;  // what is more is dropped
  bool open = true;

  void Read() {
    char part[1 << 14];
    const ssize_t size = read(fd, part, sizeof part);
    if (size > 0)
      text.append(part, std::min(static_cast<size_t>(size), most - std::min(most, text.size())));
    else if (size == 0 || (errno != EAGAIN && errno != EINTR)) open = false;
  }
};

}  // namespace

// A program under trial may crash, loop or take all memory, so that it runs in a process with
// limits; what it writes is bounded too, and time is counted here. Leaving this function ends the
// process.
absl::StatusOr<Result> RunApart(const Config& config, double seconds) {
  constexpr size_t kMostResult = size_t{64} << 20, kMostLog = 4096;
  constexpr int kOften = 50;  // ms
  DT_ASSIGN_OR_RETURN(const std::string worker, launch::FindWorker(""));
  const std::string text = ToJson(config).dump();
  DT_ASSIGN_OR_RETURN(launch::Process process, launch::Process::Start(worker, text, "--trial"));
  Stream result = {process.control(), "", kMostResult}, log = {process.log(), "", kMostLog};
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  std::string how;
  bool ended = false;
  while (!ended || result.open || log.open) {
    if (!ended && Clock::now() > end)
      return absl::DeadlineExceededError(absl::StrCat("not done within ", seconds, " s"));
    pollfd pipes[] = {{result.open ? result.fd : -1, POLLIN, 0},
                      {log.open ? log.fd : -1, POLLIN, 0}};
    poll(pipes, 2, kOften);
    if (pipes[0].revents != 0) result.Read();
    if (pipes[1].revents != 0) log.Read();
    ended = ended || process.Reap(how);
  }
  if (!how.empty())
    return absl::AbortedError(
        absl::StrCat("the process ", how, log.text.empty() ? "" : ": ", log.text));
  return ParseResult(result.text);
}

}  // namespace dtranspile::trial
