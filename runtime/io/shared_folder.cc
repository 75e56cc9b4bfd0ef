#include "runtime/io/shared_folder.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/io/errno_status.h"
#include "runtime/io/filesystem.h"

namespace dtranspile::io {
namespace {

absl::Status Failed(const std::string& path, const char* what) {
  return ErrnoStatus(errno, absl::StrCat(path, ": ", what));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }

 private:
  const int fd_;
};

// What a member leaves in the folder when it has written its files.
std::string MarkOf(const std::string& member) {
  std::string mark = absl::StrCat(".written.", member);
  std::replace(mark.begin(), mark.end(), '/', '_');
  return mark;
}

absl::Status WriteAll(int fd, const std::string& path, const char* data, size_t bytes,
                      int64_t offset) {
  for (size_t done = 0; done < bytes;) {
    const ssize_t n = pwrite(fd, data + done, bytes - done,
                             static_cast<off_t>(offset + static_cast<int64_t>(done)));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Failed(path, "writing");
    done += static_cast<size_t>(n);
  }
  return absl::OkStatus();
}

absl::Status SyncFolder(const std::string& path) {
  const Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0 || fsync(folder.get()) != 0) return Failed(path, "syncing");
  return absl::OkStatus();
}

// In place of what is there.
absl::Status Put(const std::string& from, const std::string& to) {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0)
    return SyncFolder(ParentOf(to));
  // File systems of a network lack the flags; nothing is overwritten there either.
  if (errno == EINVAL && rename(from.c_str(), to.c_str()) == 0) return SyncFolder(ParentOf(to));
  if (errno != EEXIST) return Failed(to, "putting the folder in place");
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) != 0)
    return Failed(to, "exchanging the folder");
  DT_RETURN_IF_ERROR(SyncFolder(ParentOf(to)));
  return RemoveAll(from);
}

}  // namespace

absl::StatusOr<SharedFile> SharedFile::Open(const std::string& path, int64_t size) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (fd < 0) return Failed(path, "making the file");
  SharedFile file(path, fd);
  // One that an earlier job has left may be longer.
  if (ftruncate(fd, static_cast<off_t>(size)) != 0) return Failed(path, "writing");
  return file;
}

SharedFile::SharedFile(SharedFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

SharedFile::~SharedFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

absl::Status SharedFile::WriteAt(const void* data, int64_t bytes, int64_t offset) const {
  return WriteAll(descriptor_, path_, static_cast<const char*>(data), static_cast<size_t>(bytes),
                  offset);
}

absl::Status SharedFile::Sync() const {
  return fsync(descriptor_) == 0 ? absl::OkStatus() : Failed(path_, "syncing");
}

absl::StatusOr<FolderUse> FolderUse::Begin(const std::string& folder, Kind kind) {
  FolderUse use(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (use.descriptor_ < 0) return Failed(folder, "opening the folder");
  int taken = 0;
  while ((taken = flock(use.descriptor_, (kind == kAlone ? LOCK_EX : LOCK_SH) | LOCK_NB)) != 0 &&
         errno == EINTR) {
  }
  if (taken != 0 && errno == EWOULDBLOCK)
    return absl::FailedPreconditionError(absl::StrCat(
        folder, ": another run writes there; wait until it has ended, or name another folder"));
  return use;
}

FolderUse::FolderUse(FolderUse&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

FolderUse::~FolderUse() {
  if (descriptor_ >= 0) close(descriptor_);
}

absl::StatusOr<SharedFolder> SharedFolder::Open(const std::string& below, const std::string& name) {
  SharedFolder folder(absl::StrCat(below, "/", kUnfinishedPrefix, name),
                      absl::StrCat(below, "/", name));
  DT_RETURN_IF_ERROR(MakeFolders(folder.path_));
  return folder;
}

void SharedFolder::Forget(const std::string& below, const std::string& member,
                          const std::string& seal) {
  const auto names = NamesIn(below);
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    if (name.rfind(kUnfinishedPrefix, 0) != 0) continue;
    unlink(absl::StrCat(below, "/", name, "/", MarkOf(member)).c_str());
    unlink(absl::StrCat(below, "/", name, "/", seal).c_str());
  }
}

// Each member writes a mark when its files are there; whoever then sees the marks of all writes the
// seal, exclusively, and puts the folder in place by a rename. Every step is synced before the
// next, so that after a power failure a folder in place is complete. Returns whether this member
// was the one.
absl::StatusOr<bool> SharedFolder::Finish(const std::string& member,
                                          const std::vector<std::string>& members,
                                          const std::string& seal, const std::string& text) const {
  // By its descriptor, so that this member goes on with the same folder when another one has put it
  // in place meanwhile.
  const Descriptor folder(open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0) return Failed(path_, "opening the folder");
  {
    const Descriptor mark(
        openat(folder.get(), MarkOf(member).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    if (mark.get() < 0 || fsync(folder.get()) != 0) return Failed(path_, "writing");
  }
  struct stat unused;
  for (const std::string& other : members)
    if (fstatat(folder.get(), MarkOf(other).c_str(), &unused, AT_SYMLINK_NOFOLLOW) != 0)
      return false;
  {
    // Two members may have seen all the marks; one of them makes the seal, which stays.
    const Descriptor sealing(
        openat(folder.get(), seal.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (sealing.get() < 0 && errno == EEXIST) return false;
    if (sealing.get() < 0) return Failed(path_, "writing");
    DT_RETURN_IF_ERROR(WriteAll(sealing.get(), path_ + "/" + seal, text.data(), text.size(), 0));
    if (fsync(sealing.get()) != 0) return Failed(path_, "syncing");
  }
  for (const std::string& other : members) unlinkat(folder.get(), MarkOf(other).c_str(), 0);
  if (fsync(folder.get()) != 0) return Failed(path_, "syncing");
  DT_RETURN_IF_ERROR(Put(path_, target_));
  return true;
}

}  // namespace dtranspile::io
