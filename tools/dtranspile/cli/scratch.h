// A temporary folder of a command, which goes away however the command ends. Used by `run` for what
// it compiles.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace dtranspile::cli {

// One at a time in a process. The folder is removed by the destructor; by SIGINT, SIGTERM, SIGHUP,
// SIGQUIT and SIGPIPE, before they end the process as they would without; and, where nothing of
// that came to pass (SIGKILL), by the next Make of this user.
class Scratch {
 public:
  // A new folder below $TMPDIR. Errors name it and the cause.
  static absl::StatusOr<Scratch> Make();

  Scratch(Scratch&& other) noexcept;
  Scratch& operator=(Scratch&&) = delete;
  ~Scratch();

  const std::string& path() const { return path_; }

 private:
  Scratch(std::string path, int lock) : path_(std::move(path)), lock_(lock) {}

  std::string path_;  // empty: moved from
  int lock_ = -1;     // descriptor of the folder, locked as long as somebody works in it
};

}  // namespace dtranspile::cli
