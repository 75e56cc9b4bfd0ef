#include "runtime/io/bytes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/io/errno_status.h"

namespace dtranspile::io {

static_assert(std::endian::native == std::endian::little, "files are little-endian, and so are we");

namespace {

// Reads by offset (pread): several threads can read one file without a common position.
class FileBytes : public ByteSource {
 public:
  FileBytes(std::string name, int64_t size, int descriptor)
      : ByteSource(std::move(name), size), descriptor_(descriptor) {}
  ~FileBytes() override { close(descriptor_); }

 private:
  // pread leaves the descriptor's position alone, so that threads may share a file.
  absl::Status Fetch(int64_t offset, int64_t count, void* to) const override {
    // One call transfers 2 GiB at most.
    constexpr int64_t kPart = int64_t{1} << 30;
    auto* out = static_cast<char*>(to);
    while (count > 0) {
      const ssize_t got = pread(descriptor_, out, std::min(count, kPart), offset);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return ErrnoStatus(errno, name() + ": reading");
      if (got == 0) return absl::DataLossError(absl::StrCat(name(), ": shrank while it was read"));
      out += got;
      offset += got;
      count -= got;
    }
    return absl::OkStatus();
  }

  int descriptor_;
};

// Bytes that somebody else holds, and keeps.
class MemoryBytes : public ByteSource {
 public:
  MemoryBytes(std::string name, const void* data, size_t size)
      : ByteSource(std::move(name), static_cast<int64_t>(size)),
        data_(static_cast<const char*>(data)) {}

 private:
  absl::Status Fetch(int64_t offset, int64_t count, void* to) const override {
    std::memcpy(to, data_ + offset, static_cast<size_t>(count));
    return absl::OkStatus();
  }

  const char* data_;
};

}  // namespace

// The bounds are tested without a sum, which could overflow: offsets come from files.
absl::Status ByteSource::ReadAt(int64_t offset, int64_t count, void* to) const {
  if (offset < 0 || count < 0 || offset > size_ || count > size_ - offset) {
    return absl::DataLossError(absl::StrCat(name_, ": bytes [", offset, ", ", offset, " + ", count,
                                            ") of ", size_, " are not there"));
  }
  if (count == 0) return absl::OkStatus();
  return Fetch(offset, count, to);
}

// Regular files only: their size is known beforehand, which everything after relies on to refuse
// counts that the file has no room for.
absl::StatusOr<std::unique_ptr<ByteSource>> OpenFile(const std::string& path) {
  // The system would open what its first part names.
  if (path.find('\0') != std::string::npos)
    return absl::InvalidArgumentError(path + ": a path has no NUL in it");
  // O_NONBLOCK: a pipe without a writer is refused below instead of waited for.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) return ErrnoStatus(errno, path + ": opening");
  struct stat info;
  if (fstat(descriptor, &info) != 0) {
    const int error = errno;
    close(descriptor);
    return ErrnoStatus(error, path + ": looking at the size");
  }
  if (!S_ISREG(info.st_mode)) {
    close(descriptor);
    return absl::InvalidArgumentError(path + ": not a regular file");
  }
  return std::make_unique<FileBytes>(path, static_cast<int64_t>(info.st_size), descriptor);
}

std::unique_ptr<ByteSource> OpenMemory(std::string name, const void* data, size_t size) {
  return std::make_unique<MemoryBytes>(std::move(name), data, size);
}

// `what` is read for, in the message: where a file is cut off is said with what should be there.
absl::Status Cursor::CheckRoom(const std::string& what, int64_t count) const {
  if (count >= 0 && count <= remaining()) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(source_.name(), ": offset ", offset_, ": ", what,
                                          " wants ", count, " bytes, ", remaining(), " are left"));
}

absl::Status Cursor::Skip(const std::string& what, int64_t count) {
  DT_RETURN_IF_ERROR(CheckRoom(what, count));
  offset_ += count;
  return absl::OkStatus();
}

absl::Status Cursor::Read(const std::string& what, int64_t count, void* to) {
  DT_RETURN_IF_ERROR(CheckRoom(what, count));
  DT_RETURN_IF_ERROR(source_.ReadAt(offset_, count, to));
  offset_ += count;
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> Cursor::ReadU32(const std::string& what) {
  uint32_t value = 0;
  DT_RETURN_IF_ERROR(Read(what, sizeof value, &value));
  return value;
}

absl::StatusOr<uint64_t> Cursor::ReadU64(const std::string& what) {
  uint64_t value = 0;
  DT_RETURN_IF_ERROR(Read(what, sizeof value, &value));
  return value;
}

absl::Status Cursor::Error(const std::string& message) const {
  return absl::InvalidArgumentError(
      absl::StrCat(source_.name(), ": offset ", offset_, ": ", message));
}

}  // namespace dtranspile::io
