// Writing files, and names that stay inside their folder. Callers: every writer of runtime/io, and
// the tools that write reports and jobs.
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

// A file that is written from its beginning, in a folder of the writer's own (staged.h), which
// makes what is in it appear whole. One that is not closed, or not well, is removed. An existing
// file is overwritten; links are not followed.
class OutputFile {
 public:
  static absl::StatusOr<OutputFile> Create(const std::string& path);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  absl::Status Write(const void* data, int64_t size);
  absl::Status Close();

 private:
  OutputFile(std::string path, int descriptor);

  std::string path_;
  int descriptor_ = -1;  // -1: closed, or moved from
};

// All of it at once.
absl::Status WriteFile(const std::string& path, const void* data, int64_t size);

// The file that a user has named: whole or not at all, through a link too; a device or a pipe stays
// what it is and is written in place.
absl::Status WriteNamed(const std::string& path, const void* data, int64_t size);
// Whether that would succeed, so that it is not found out after hours of work. Nothing is left and
// nothing changed.
absl::Status CheckNamed(const std::string& path);

}  // namespace dtranspile::io
