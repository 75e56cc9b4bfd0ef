#include "runtime/io/owned_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/io/errno_status.h"
#include "runtime/io/filesystem.h"

namespace dtranspile::io {
namespace {

constexpr char kMarker[] = "/dtranspile.owner";
constexpr char kMarkerText[] = "dtranspile works here: ";

struct Slot {
  std::atomic<bool> taken{false};
  std::atomic<bool> valid{false};
  char path[PATH_MAX];
};
Slot slots[kMostHandled];

int TakeSlot(const std::string& path) {
  for (int i = 0; path.size() < PATH_MAX && i < kMostHandled; ++i) {
    if (slots[i].taken.exchange(true)) continue;
    std::strcpy(slots[i].path, path.c_str());
    slots[i].valid = true;
    return i;
  }
  return -1;
}

void GiveSlot(int slot) {
  if (slot < 0) return;
  slots[slot].valid = false;
  slots[slot].taken = false;
}

// Tells an empty folder of ours (made, and not marked yet; or emptied, and not removed yet) from
// one of the user's, which has no such mode.
constexpr mode_t kMode = S_ISVTX | S_IRWXU;

// 0 with the lock of a marker that was opened or made, or on a file system without locks, where
// nobody removes anything; else the reason.
int Take(int marker) {
  struct stat info;
  if (flock(marker, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return EWOULDBLOCK;
  return fstat(marker, &info) == 0 && info.st_nlink > 0 ? 0 : ENOENT;
}

// Whether the marker says that the folder is one of ours. One without a text belongs to a process
// that was killed between making and writing it, and then there is nothing else.
bool SaysOurs(int marker, const std::string& folder) {
  char text[sizeof kMarkerText - 1];
  const ssize_t size = pread(marker, text, sizeof text, 0);
  if (size == static_cast<ssize_t>(sizeof text))
    return std::memcmp(text, kMarkerText, sizeof text) == 0;
  const absl::StatusOr<std::vector<std::string>> names = NamesIn(folder);
  return size == 0 && names.ok() && names->size() == 1;
}

// The marker of a folder that a process of this user has left, locked; -1 for any other.
int MarkerOfLeft(const std::string& folder) {
  const int marker =
      open((folder + kMarker).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (marker < 0) return -1;
  struct stat info;
  if (fstat(marker, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
      flock(marker, LOCK_EX | LOCK_NB) == 0 && Take(marker) == 0 && SaysOurs(marker, folder))
    return marker;
  close(marker);
  return -1;
}

// Makes and locks the marker of a folder that has just been made; 0, or the reason: ENOENT and
// EWOULDBLOCK where somebody took the folder for one that was left.
int Mark(const std::string& folder, const std::string& purpose, int& marker) {
  marker =
      open((folder + kMarker).c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (marker < 0) return errno;
  if (const int reason = Take(marker); reason != 0) return reason;
  const std::string text = absl::StrCat(
      kMarkerText, purpose, "\nmade by process ", getpid(),
      "; when that has ended, nobody needs this folder: the next command that works here removes "
      "it, and so may you\n");
  const ssize_t written = write(marker, text.data(), text.size());
  if (written == static_cast<ssize_t>(text.size())) return 0;
  return written < 0 ? errno : ENOSPC;
}

// The marker goes last but one, so that what a killed process has left of the folder is known to be
// ours.
void Remove(const std::string& folder) {
  const absl::StatusOr<std::vector<std::string>> names = NamesIn(folder);
  for (const std::string& name : names.ok() ? *names : std::vector<std::string>())
    if ("/" + name != kMarker) RemoveAll(absl::StrCat(folder, "/", name)).IgnoreError();
  unlink((folder + kMarker).c_str());
  rmdir(folder.c_str());
}

// Six random characters make a name that nobody else has.
std::string NewName(const std::string& below, const std::string& prefix) {
  constexpr char kLetters[] = "abcdefghijklmnopqrstuvwxyz012345";
  std::string path = absl::StrCat(below, "/", prefix);
  unsigned char bytes[6] = {};
  if (getentropy(bytes, sizeof bytes) != 0) return path;  // taken soon: the attempts end
  for (unsigned char byte : bytes) path += kLetters[byte % (sizeof kLetters - 1)];
  return path;
}

}  // namespace

EndingSignalsHeld::EndingSignalsHeld() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : kEndingSignals) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, &before_);
}

EndingSignalsHeld::~EndingSignalsHeld() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

// A folder with a locked marker file in it: the lock goes with the process, however it ends, and
// tells folders in use from those that were left. Another process may remove a fresh folder before
// it is marked; then the next name is tried.
absl::StatusOr<OwnedFolder> OwnedFolder::Make(const std::string& below, const std::string& prefix,
                                              const std::string& purpose) {
  // A folder that is made and not yet known to the signal handler would be left.
  const EndingSignalsHeld held;
  constexpr int kAttempts = 100;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::string path = NewName(below, prefix);
    if (mkdir(path.c_str(), kMode) != 0) {
      if (errno == EEXIST) continue;
      return ErrnoStatus(errno, absl::StrCat(below, ": making a folder there"));
    }
    int marker = -1;
    const int reason = Mark(path, purpose, marker);
    if (reason == 0) {
      const int slot = TakeSlot(path);
      return OwnedFolder(std::move(path), marker, slot);
    }
    Remove(path);
    if (marker >= 0) close(marker);
    if (reason != ENOENT && reason != EWOULDBLOCK)
      return ErrnoStatus(reason, path + ": making a file there");
  }
  return absl::UnavailableError(below + ": folders there are removed as soon as they are made");
}

// Removes what ended processes have left: folders of this prefix, owner and mode whose marker
// nobody has locked.
void OwnedFolder::ClearLeft(const std::string& below, const std::string& prefix,
                            const std::function<void(const std::string& folder)>& finish) {
  const absl::StatusOr<std::vector<std::string>> names = NamesIn(below);
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    if (name.compare(0, prefix.size(), prefix) != 0) continue;
    const std::string folder = absl::StrCat(below, "/", name);
    const EndingSignalsHeld held;
    struct stat info;
    if (lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != geteuid() ||
        (info.st_mode & ALLPERMS & ~S_ISGID) != kMode)
      continue;
    const int marker = MarkerOfLeft(folder);
    if (marker >= 0 && finish) finish(folder);
    if (marker >= 0) Remove(folder);
    else rmdir(folder.c_str());  // fails but for an empty one
    if (marker >= 0) close(marker);
  }
}

OwnedFolder::OwnedFolder(OwnedFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      lock_(std::exchange(other.lock_, -1)),
      slot_(std::exchange(other.slot_, -1)) {}

OwnedFolder::~OwnedFolder() {
  if (path_.empty()) return;
  Remove(path_);
  GiveSlot(slot_);
  if (lock_ >= 0) close(lock_);
}

const char* FolderForHandler(int index) {
  return index >= 0 && index < kMostHandled && slots[index].valid ? slots[index].path : nullptr;
}

}  // namespace dtranspile::io
