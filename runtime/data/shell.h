// A command of a shell whose output is read, and that never outlives who reads it: it runs in a
// process group of its own, which is killed when the reader is done with it, and when the reader's
// process ends, however it ends.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace dtranspile::data {

class ShellCommand {
 public:
  // `/bin/sh -c words`. The thread that starts it has to stay until it is done with it. It is
  // silent for not more than `limit_seconds` at a time: a command that hangs, or that somebody has
  // stopped, is an error of Read and End.
  static absl::StatusOr<ShellCommand> Start(const std::string& words, int64_t limit_seconds);

  ShellCommand(ShellCommand&& other) noexcept;
  ShellCommand& operator=(ShellCommand&&) = delete;
  // Kills what is left of it.
  ~ShellCommand();

  // Bytes of its output; 0 at the end. kDeadlineExceeded after the limit.
  absl::StatusOr<size_t> Read(char* buffer, size_t size);

  // After the end of its output: what it has ended with, "3" or "signal 9 (Killed)"; empty for 0.
  // kDeadlineExceeded where it does not end within the limit.
  absl::StatusOr<std::string> End();

 private:
  ShellCommand(pid_t group, int output, int64_t limit_seconds)
      : group_(group), output_(output), limit_seconds_(limit_seconds) {}
  absl::Status Silent(const char* what) const;

  pid_t group_ = -1;  // of the process that waits for the shell, and leads the group; -1: ended
  int output_ = -1;
  int64_t limit_seconds_ = 0;
};

}  // namespace dtranspile::data
