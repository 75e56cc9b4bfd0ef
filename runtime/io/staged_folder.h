// A folder that appears whole or not at all. Callers: everything that writes jobs, exports and
// compiled plans.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace dtranspile::io {

// Filled under a name of its own beside the target; Publish gives it the target's name. Without
// Publish nothing is left.
class StagedFolder {
 public:
  // A new empty folder beside `target`, whose own folders are made as well. Slashes at the end of
  // `target` mean nothing. Whether what is at `target` may be replaced is for the caller to say.
  static absl::StatusOr<StagedFolder> Create(std::string target);

  // A new empty folder inside `folder`, which is made where it is not there, for files that are
  // added to what `folder` holds.
  static absl::StatusOr<StagedFolder> CreateInside(std::string folder);

  StagedFolder(StagedFolder&& other) noexcept;
  StagedFolder& operator=(StagedFolder&&) = delete;
  ~StagedFolder();

  const std::string& path() const { return path_; }

  // What is at the target steps aside before the new folder takes its name, and is removed then; a
  // crash between the two leaves both under names that say what they are.
  absl::Status Publish();

  // Of CreateInside: moves the files up, over files of the same names, once all of them are known
  // to have a place.
  absl::Status Merge();

 private:
  StagedFolder(std::string target, std::string path, bool made = false)
      : target_(std::move(target)), path_(std::move(path)), made_(made) {}

  std::string target_;
  std::string path_;  // empty once published, or moved from
  bool made_ =
      false;  // whether `target_` was not there; it goes again where nothing has come into it
};

// Whether `folder` is a folder, and every entry of it is a regular file with one of these names:
// what may be replaced without loss.
bool HoldsOnly(const std::string& folder, std::initializer_list<std::string_view> names);

}  // namespace dtranspile::io
