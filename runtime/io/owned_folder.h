// A folder that a process works in and that goes with it: what is not complete yet, and temporary
// files. Callers: staged.h, the commands' temporary folder.
//
// It has a file `dtranspile.owner` that says so to people and that the process holds a lock on. A
// process that is killed leaves the folder without a holder of that lock; then the next command of
// the same user that works at the same place removes it. Nothing else is ever removed: not a folder
// of a like name without that file, not one of another user.
#pragma once

#include <signal.h>

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace dtranspile::io {

// Signals that end a command, and may come at any time: all that do so where nobody hears them, but
// faults of the process itself and SIGKILL. Batch systems send SIGUSR1, SIGUSR2 and SIGXCPU ahead
// of time.
inline constexpr int kEndingSignals[] = {SIGINT,  SIGTERM,   SIGHUP,  SIGQUIT, SIGPIPE,
                                         SIGUSR1, SIGUSR2,   SIGALRM, SIGXCPU, SIGVTALRM,
                                         SIGPROF, SIGSTKFLT, SIGIO,   SIGPWR};

// These wait while this lives, in this thread.
class EndingSignalsHeld {
 public:
  EndingSignalsHeld();
  EndingSignalsHeld(const EndingSignalsHeld&) = delete;
  EndingSignalsHeld& operator=(const EndingSignalsHeld&) = delete;
  ~EndingSignalsHeld();

 private:
  sigset_t before_;
};

class OwnedFolder {
 public:
  // A folder BELOW/PREFIXxxxxxx that only this user may enter. `purpose` is what the marker says
  // about it.
  static absl::StatusOr<OwnedFolder> Make(const std::string& below, const std::string& prefix,
                                          const std::string& purpose);

  // Removes folders below `below`, of names that begin with `prefix`, that processes of this user
  // have left. `finish` is called before, for what a process had promised to do.
  static void ClearLeft(const std::string& below, const std::string& prefix,
                        const std::function<void(const std::string& folder)>& finish = {});

  OwnedFolder(OwnedFolder&& other) noexcept;
  OwnedFolder& operator=(OwnedFolder&&) = delete;
  ~OwnedFolder();

  const std::string& path() const { return path_; }

 private:
  OwnedFolder(std::string path, int lock, int slot)
      : path_(std::move(path)), lock_(lock), slot_(slot) {}

  std::string path_;  // empty: moved from
  int lock_ = -1;     // descriptor of the marker, locked
  int slot_ = -1;     // of FolderForHandler; -1: there were too many
};

// For signal handlers, which may not allocate: folder `index` of this process, null where there is
// none of that number, below kMostHandled.
inline constexpr int kMostHandled = 8;
const char* FolderForHandler(int index);

}  // namespace dtranspile::io
