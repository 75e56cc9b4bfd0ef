// One worker process: starting it so that it cannot outlive the launcher, its pipes, its end. Used
// by the supervisor.
#pragma once

#include <sys/types.h>

#include <string>

#include "absl/status/statusor.h"

namespace dtranspile::launch {

// The descriptors that a worker finds.
constexpr int kControlFd = 3;
constexpr int kConfigFd = 4;
constexpr int kFlightFd = 5;

// The worker's binary: `given`, or, where that is empty, dtranspile-worker beside this program.
// kInvalidArgument where it is not there.
absl::StatusOr<std::string> FindWorker(const std::string& given);

class Process {
 public:
  // Starts `binary` with CONFIG `config` in memory (no file is left behind), in a process group of
  // its own that the kernel kills when this thread ends. `flag` stands before CONFIG's path.
  // `flight` becomes the worker's kFlightFd; -1: it has none.
  static absl::StatusOr<Process> Start(const std::string& binary, const std::string& config,
                                       const std::string& flag = "", int flight = -1);

  Process() = default;
  ~Process();
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;

  pid_t pid() const { return pid_; }
  int control() const { return control_; }   // lines of the control channel
  int log() const { return log_; }           // stdout and stderr
  int exit_event() const { return pidfd_; }  // readable when the process has ended
  void CloseControl();
  void CloseLog();

  bool running() const { return pid_ > 0; }

  // To the worker alone.
  void Tell(int signal);
  // Signals the whole group; stopped processes are woken so that they see it.
  void Signal(int signal);

  // Collects the ended process: "exited with status 4", "was killed by signal 9 (Killed)"; "" for
  // status 0. False while it runs.
  bool Reap(std::string& how);

  // Whether the process has been stopped (SIGSTOP).
  bool Stopped() const;

 private:
  pid_t pid_ = -1;
  int control_ = -1, log_ = -1, pidfd_ = -1;
};

}  // namespace dtranspile::launch
