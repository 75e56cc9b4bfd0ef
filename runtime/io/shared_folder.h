// A folder that several processes fill together, on one machine or on a file system that they
// share, and that appears whole or not at all. Nobody leads: who finishes last puts it in place.
// Callers: checkpoints (runtime/exec/checkpoint.h).
//
//     BELOW/.dtranspile-unfinished-NAME   while members write
//     BELOW/NAME                          when all have; synced, with the seal in it
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace dtranspile::io {

// A file of a size that is known, of which several processes write pieces.
class SharedFile {
 public:
  // Makes it, or opens the one that another member has made. Links are not followed.
  static absl::StatusOr<SharedFile> Open(const std::string& path, int64_t size);
  SharedFile(SharedFile&& other) noexcept;
  ~SharedFile();

  absl::Status WriteAt(const void* data, int64_t bytes, int64_t offset) const;
  // Until it is on the disk.
  absl::Status Sync() const;

 private:
  SharedFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  std::string path_;
  int descriptor_;
};

class SharedFolder {
 public:
  // One that is called `name` below `below` when it is whole; these folders are made.
  static absl::StatusOr<SharedFolder> Open(const std::string& below, const std::string& name);
  // What this member has said of folders that were never finished: it begins anew. Every member has
  // to, before any of them writes.
  static void Forget(const std::string& below, const std::string& member, const std::string& seal);

  // Where to write meanwhile.
  const std::string& path() const { return path_; }

  // This member's files are written and synced. The last one of `members` writes the file `seal`
  // and puts the folder in place, in exchange for one of that name: true for that one.
  absl::StatusOr<bool> Finish(const std::string& member, const std::vector<std::string>& members,
                              const std::string& seal, const std::string& text) const;

 private:
  SharedFolder(std::string path, std::string target)
      : path_(std::move(path)), target_(std::move(target)) {}
  std::string path_, target_;
};

// While it lives the folder is one job's: two that fill folders of one name would mix what they
// have.
class FolderUse {
 public:
  // kAlone: by one process for all. kTogether: by several of one job, which nobody tells from those
  // of another. kFailedPrecondition where others use it otherwise; file systems without locks let
  // everybody in.
  enum Kind { kAlone, kTogether };
  static absl::StatusOr<FolderUse> Begin(const std::string& folder, Kind kind);
  FolderUse(FolderUse&& other) noexcept;
  ~FolderUse();

 private:
  explicit FolderUse(int descriptor) : descriptor_(descriptor) {}
  int descriptor_;
};

// Names below `below` of folders that are not whole.
inline constexpr char kUnfinishedPrefix[] = ".dtranspile-unfinished-";

}  // namespace dtranspile::io
