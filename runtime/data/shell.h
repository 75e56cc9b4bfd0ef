// A command of a shell whose output is read, and that never outlives who reads it: it runs in a
// process group of its own, which is killed when the reader is done with it, and when the reader's
// process ends, however it ends.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace dtranspile::data {

class ShellCommand {
 public:
  // `/bin/sh -c words`. The thread that starts it has to stay until it is done with it.
  static absl::StatusOr<ShellCommand> Start(const std::string& words);

  ShellCommand(ShellCommand&& other) noexcept;
  ShellCommand& operator=(ShellCommand&&) = delete;
  // Kills what is left of it.
  ~ShellCommand();

  // Bytes of its output; 0 at the end.
  absl::StatusOr<size_t> Read(char* buffer, size_t size);

  // After the end of its output: what it has ended with, "3" or "signal 9 (Killed)"; empty for 0.
  std::string End();

 private:
  ShellCommand(pid_t group, int output) : group_(group), output_(output) {}

  pid_t group_ = -1;  // of the process that waits for the shell, and leads the group; -1: ended
  int output_ = -1;
};

}  // namespace dtranspile::data
