// Files that appear whole or not at all, and names that stay inside their folder. Callers: every
// writer of runtime/io, and the tools that write reports and jobs.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace dtranspile::io {

// The path of `name` below `folder`. A name may have `/` (sub-folders). kInvalidArgument for names
// that could leave the folder or name no file: absolute, with a component "", "." or "..", with a
// NUL byte.
absl::StatusOr<std::string> PathInside(const std::string& folder, const std::string& name);

// Makes `folder` and the folders of `name` below it, and returns PathInside. Folders below `folder`
// must be real ones: a symbolic link on the way is refused, since it may lead outside.
absl::StatusOr<std::string> PrepareInside(const std::string& folder, const std::string& name);

// A new file at `path`: the bytes go to a temporary file beside it, which Commit makes durable
// (fsync) and renames. Without Commit nothing is left. An existing file at `path` is replaced.
class AtomicFile {
 public:
  static absl::StatusOr<AtomicFile> Create(const std::string& path);

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  ~AtomicFile();

  absl::Status Write(const void* data, int64_t size);
  absl::Status Commit();

 private:
  AtomicFile(std::string path, std::string temporary, int descriptor);

  std::string path_;
  std::string temporary_;  // empty once renamed, or moved from
  int descriptor_ = -1;
};

// All of it at once.
absl::Status WriteFile(const std::string& path, const void* data, int64_t size);

// WriteFile for a path that a user has named: a device, a pipe or a symbolic link stays what it is
// and is written in place.
absl::Status WriteNamed(const std::string& path, const void* data, int64_t size);
// Whether that would succeed, so that it is not found out after hours of work. Nothing is left and
// nothing changed.
absl::Status CheckNamed(const std::string& path);

}  // namespace dtranspile::io
