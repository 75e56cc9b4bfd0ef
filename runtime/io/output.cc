#include "runtime/io/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/io/errno_status.h"

namespace dtranspile::io {
namespace {

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

std::string FolderOf(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

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

// A name that no other file of the folder has, made with O_EXCL.
absl::StatusOr<int> OpenTemporary(const std::string& folder, std::string* name) {
  static std::atomic<uint64_t> counter{0};
  while (true) {
    *name = absl::StrCat(folder, "/.dtranspile-", getpid(), "-", counter.fetch_add(1));
    const int descriptor = open(name->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) return descriptor;
    if (errno != EEXIST) return ErrnoStatus(errno, folder + ": making a file");
  }
}

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

// Whether a file may be renamed to `path` without taking away something else than a file.
absl::StatusOr<bool> MayBeReplaced(const std::string& path) {
  struct stat info;
  if (lstat(path.c_str(), &info) != 0) return true;
  if (S_ISDIR(info.st_mode)) return absl::InvalidArgumentError(path + ": is a folder; name a file");
  return S_ISREG(info.st_mode);
}

}  // namespace

absl::StatusOr<std::string> PathInside(const std::string& folder, const std::string& name) {
  for (const std::string& part : Components(name)) {
    if (part.empty() || part == "." || part == ".." || part.find('\0') != std::string::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("variable name '", name, "' does not name a file inside ", folder));
    }
  }
  return (std::filesystem::path(folder) / name).string();
}

absl::StatusOr<std::string> PrepareInside(const std::string& folder, const std::string& name) {
  DT_ASSIGN_OR_RETURN(std::string path, PathInside(folder, name));
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return ErrnoStatus(error.value(), folder + ": making the folder");
  std::vector<std::string> parts = Components(name);
  parts.pop_back();
  std::string below = folder;
  for (const std::string& part : parts) {
    below += "/" + part;
    DT_RETURN_IF_ERROR(MakeFolder(below));
  }
  return path;
}

AtomicFile::AtomicFile(std::string path, std::string temporary, int descriptor)
    : path_(std::move(path)), temporary_(std::move(temporary)), descriptor_(descriptor) {}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::exchange(other.temporary_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

absl::StatusOr<AtomicFile> AtomicFile::Create(const std::string& path) {
  std::string temporary;
  DT_ASSIGN_OR_RETURN(const int descriptor, OpenTemporary(FolderOf(path), &temporary));
  return AtomicFile(path, std::move(temporary), descriptor);
}

absl::Status AtomicFile::Write(const void* data, int64_t size) {
  return WriteAll(descriptor_, path_, data, size);
}

absl::Status AtomicFile::Commit() {
  if (fsync(descriptor_) != 0) return ErrnoStatus(errno, path_ + ": writing");
  if (close(std::exchange(descriptor_, -1)) != 0) return ErrnoStatus(errno, path_ + ": writing");
  if (rename(temporary_.c_str(), path_.c_str()) != 0) {
    return ErrnoStatus(errno, path_ + ": putting the file in its place");
  }
  temporary_.clear();
  // The rename itself is durable once the folder is.
  const int folder = open(FolderOf(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return ErrnoStatus(errno, path_ + ": opening its folder");
  const int failed = fsync(folder) != 0 ? errno : 0;
  close(folder);
  // Some file systems have no such operation for folders; the file is there all the same.
  if (failed != 0 && failed != EINVAL) return ErrnoStatus(failed, path_ + ": writing its folder");
  return absl::OkStatus();
}

absl::Status WriteFile(const std::string& path, const void* data, int64_t size) {
  DT_ASSIGN_OR_RETURN(AtomicFile file, AtomicFile::Create(path));
  DT_RETURN_IF_ERROR(file.Write(data, size));
  return file.Commit();
}

absl::Status WriteNamed(const std::string& path, const void* data, int64_t size) {
  DT_ASSIGN_OR_RETURN(const bool replaced, MayBeReplaced(path));
  if (replaced) return WriteFile(path, data, size);
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) return ErrnoStatus(errno, path + ": opening");
  const absl::Status written = WriteAll(descriptor, path, data, size);
  const int failed = close(descriptor) != 0 ? errno : 0;
  if (!written.ok() || failed == 0) return written;
  return ErrnoStatus(failed, path + ": writing");
}

absl::Status CheckNamed(const std::string& path) {
  DT_ASSIGN_OR_RETURN(const bool replaced, MayBeReplaced(path));
  if (replaced) return AtomicFile::Create(path).status();
  // A link may lead to a file that is yet to be made.
  if (access(path.c_str(), W_OK) == 0 || errno == ENOENT) return absl::OkStatus();
  return ErrnoStatus(errno, path + ": writing");
}

}  // namespace dtranspile::io
