// Turns signals that would end the process into a readable descriptor while a job runs, but
// SIGPIPE. Used by the supervisor.
#pragma once

#include <signal.h>

#include <iterator>
#include <utility>

#include "absl/status/status.h"
#include "runtime/io/owned_folder.h"

namespace dtranspile::launch {

// One at a time in a process. The handlers of before are put back at the end.
class SignalWatch {
 public:
  SignalWatch() = default;
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  absl::Status Begin();

  // Readable when a signal has come.
  int fd() const { return pipe_[0]; }

  // The first signal since the last call that ends the job (any but SIGUSR1); 0 for none.
  int Take();
  // Whether SIGUSR1 has been taken since the last call.
  bool TakeRequest() { return std::exchange(requested_, false); }

 private:
  int pipe_[2] = {-1, -1};
  bool active_ = false, requested_ = false;
  struct sigaction before_[std::size(io::kEndingSignals)];
};

}  // namespace dtranspile::launch
