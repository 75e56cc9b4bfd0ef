#include "runtime/launch/signals.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace dtranspile::launch {
namespace {

std::atomic<int> write_end{-1};

void OnSignal(int signal) {
  const int saved = errno;
  const auto byte = static_cast<unsigned char>(signal);
  // A full pipe has a signal in it already.
  if (write(write_end.load(), &byte, 1) < 0) errno = saved;
  errno = saved;
}

}  // namespace

// The self-pipe: a handler may only write a byte, which makes the signal an event for poll. One job
// per process at a time. SIGPIPE is ignored: a reader that is gone shows as an error of a write.
absl::Status SignalWatch::Begin() {
  if (pipe2(pipe_, O_CLOEXEC | O_NONBLOCK) != 0)
    return absl::InternalError(absl::StrCat("no more pipes: ", strerror(errno)));
  int expected = -1;
  if (!write_end.compare_exchange_strong(expected, pipe_[1]))
    return absl::FailedPreconditionError("another job runs in this process");
  active_ = true;
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (size_t i = 0; i < std::size(io::kEndingSignals); ++i) {
    const int signal = io::kEndingSignals[i];
    sigaction(signal, signal == SIGPIPE ? nullptr : &action, &before_[i]);
  }
  return absl::OkStatus();
}

SignalWatch::~SignalWatch() {
  if (active_) {
    for (size_t i = 0; i < std::size(io::kEndingSignals); ++i)
      sigaction(io::kEndingSignals[i], &before_[i], nullptr);
    write_end = -1;
  }
  for (int fd : pipe_)
    if (fd >= 0) close(fd);
}

int SignalWatch::Take() {
  int first = 0;
  unsigned char byte;
  while (read(pipe_[0], &byte, 1) == 1)
    if (byte == SIGUSR1) requested_ = true;
    else if (first == 0) first = byte;
  return first;
}

}  // namespace dtranspile::launch
