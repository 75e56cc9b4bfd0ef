#include "runtime/io/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/io/errno_status.h"
#include "runtime/io/filesystem.h"
#include "runtime/io/staged.h"

namespace dtranspile::io {
namespace {

// Most of a name that a message has: names of megabytes are no news after that.
constexpr size_t kShown = 100;

// Variable names may have slashes, which become folders.
std::vector<std::string> Components(const std::string& name) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (true) {
    const size_t end = name.find('/', begin);
    parts.push_back(name.substr(begin, end - begin));
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}

// Below an output a link to a folder is refused: it could lead out of the output.
absl::Status MakeFolder(const std::string& path) {
  if (mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) {
    return ErrnoStatus(errno, path + ": making the folder");
  }
  struct stat info;
  if (lstat(path.c_str(), &info) != 0) return ErrnoStatus(errno, path);
  if (!S_ISDIR(info.st_mode)) {
    return absl::InvalidArgumentError(path + ": is in the way, not a folder of this output");
  }
  return absl::OkStatus();
}

// The kernel takes less than 2 GiB at once, and may take less than it was given.
absl::Status WriteAll(int descriptor, const std::string& path, const void* data, int64_t size) {
  constexpr int64_t kPart = int64_t{1} << 30;
  auto* from = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t done = write(descriptor, from, static_cast<size_t>(std::min(size, kPart)));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return ErrnoStatus(errno, path + ": writing");
    from += done;
    size -= done;
  }
  return absl::OkStatus();
}

// Where the bytes for a path go that a user has named.
struct Named {
  std::string path;
  bool in_place;  // a device, a pipe, a descriptor of a process
};

absl::StatusOr<Named> FindNamed(const std::string& path) {
  DT_ASSIGN_OR_RETURN(std::string target, FollowLinks(path));
  DT_ASSIGN_OR_RETURN(const Entry entry, LookAtLink(target));
  return Named{std::move(target), entry == Entry::kOther || entry == Entry::kLink};
}

}  // namespace

// Names come from programs, which are hostile input: no part may be empty, '.' or '..', so that the
// path stays inside of `folder`.
absl::StatusOr<std::string> PathInside(const std::string& folder, const std::string& name) {
  for (const std::string& part : Components(name)) {
    if (part.size() > NAME_MAX)
      return absl::InvalidArgumentError(
          absl::StrCat("variable name '", name.substr(0, kShown), "…' has a part of ", part.size(),
                       " bytes; names of files have up to ", NAME_MAX));
    if (part.empty() || part == "." || part == ".." || part.find('\0') != std::string::npos) {
      return absl::InvalidArgumentError(absl::StrCat("variable name '", name.substr(0, kShown),
                                                     "' does not name a file inside ", folder));
    }
  }
  return absl::StrCat(folder, "/", name);
}

absl::StatusOr<std::string> PrepareInside(const std::string& folder, const std::string& name) {
  DT_ASSIGN_OR_RETURN(std::string path, PathInside(folder, name));
  DT_RETURN_IF_ERROR(MakeFolders(folder));
  std::vector<std::string> parts = Components(name);
  parts.pop_back();
  std::string below = folder;
  for (const std::string& part : parts) {
    below += "/" + part;
    DT_RETURN_IF_ERROR(MakeFolder(below));
  }
  return path;
}

OutputFile::OutputFile(std::string path, int descriptor)
    : path_(std::move(path)), descriptor_(descriptor) {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

// A file that was not closed is not whole, and goes.
OutputFile::~OutputFile() {
  if (descriptor_ < 0) return;
  close(descriptor_);
  unlink(path_.c_str());
}

// Never through a link, and not to a pipe, which would block.
absl::StatusOr<OutputFile> OutputFile::Create(const std::string& path) {
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  const int descriptor = open(path.c_str(), kFlags, 0666);
  if (descriptor < 0) return ErrnoStatus(errno, path + ": making the file");
  struct stat info;
  if (fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode)) return OutputFile(path, descriptor);
  close(descriptor);
  return absl::InvalidArgumentError(path + ": not a regular file");
}

absl::Status OutputFile::Write(const void* data, int64_t size) {
  return WriteAll(descriptor_, path_, data, size);
}

// Some file systems report a full disk only when the file is closed.
absl::Status OutputFile::Close() {
  if (close(std::exchange(descriptor_, -1)) == 0) return absl::OkStatus();
  const int reason = errno;
  unlink(path_.c_str());
  return ErrnoStatus(reason, path_ + ": writing");
}

absl::Status WriteFile(const std::string& path, const void* data, int64_t size) {
  DT_ASSIGN_OR_RETURN(OutputFile file, OutputFile::Create(path));
  DT_RETURN_IF_ERROR(file.Write(data, size));
  return file.Close();
}

// A path that a user has named: a regular file is replaced as a whole (staged.h), devices and pipes
// are written where they are.
absl::Status WriteNamed(const std::string& path, const void* data, int64_t size) {
  DT_ASSIGN_OR_RETURN(const Named named, FindNamed(path));
  if (!named.in_place) {
    DT_ASSIGN_OR_RETURN(StagedFiles staged, StagedFiles::Create({named.path}));
    DT_RETURN_IF_ERROR(WriteFile(staged.path(), data, size));
    return staged.Publish();
  }
  const int descriptor = open(named.path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  if (descriptor < 0) return ErrnoStatus(errno, path + ": opening");
  const absl::Status written = WriteAll(descriptor, path, data, size);
  const int failed = close(descriptor) != 0 ? errno : 0;
  if (!written.ok() || failed == 0) return written;
  return ErrnoStatus(failed, path + ": writing");
}

absl::Status CheckNamed(const std::string& path) {
  DT_ASSIGN_OR_RETURN(const Named named, FindNamed(path));
  if (!named.in_place) return StagedFiles::Create({named.path}).status();
  if (access(named.path.c_str(), W_OK) == 0) return absl::OkStatus();
  return ErrnoStatus(errno, path + ": writing");
}

}  // namespace dtranspile::io
