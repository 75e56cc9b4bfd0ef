#include "runtime/io/staged_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/io/errno_status.h"

namespace dtranspile::io {
namespace {

namespace fs = std::filesystem;

// A name beside `target` that nothing has.
std::string FreeName(const std::string& target, const char* what) {
  for (int number = 0;; ++number) {
    std::string name = absl::StrCat(target, ".", what, "-", getpid(),
                                    number == 0 ? "" : absl::StrCat("-", number));
    std::error_code error;
    if (fs::symlink_status(name, error).type() == fs::file_type::not_found || error) return name;
  }
}

// Makes a folder of a name that begins with `target`.
absl::StatusOr<std::string> MakeNew(const std::string& target) {
  while (true) {
    std::string path = FreeName(target, "new");
    if (mkdir(path.c_str(), 0777) == 0) return path;
    if (errno != EEXIST) return ErrnoStatus(errno, target + ": making the folder");
  }
}

}  // namespace

absl::StatusOr<StagedFolder> StagedFolder::Create(std::string target) {
  while (target.size() > 1 && target.back() == '/') target.pop_back();
  std::error_code error;
  if (const fs::path parent = fs::path(target).parent_path(); !parent.empty())
    fs::create_directories(parent, error);
  absl::StatusOr<std::string> path = MakeNew(target);
  if (!path.ok()) return path.status();
  return StagedFolder(std::move(target), *std::move(path));
}

absl::StatusOr<StagedFolder> StagedFolder::CreateInside(std::string folder) {
  std::error_code error;
  const bool made = fs::create_directories(folder, error);
  if (error) return absl::InvalidArgumentError(absl::StrCat(folder, ": ", error.message()));
  absl::StatusOr<std::string> path = MakeNew(folder + "/");
  if (path.ok()) return StagedFolder(std::move(folder), *std::move(path), made);
  if (made) rmdir(folder.c_str());
  return path.status();
}

StagedFolder::StagedFolder(StagedFolder&& other) noexcept
    : target_(std::move(other.target_)),
      path_(std::exchange(other.path_, {})),
      made_(std::exchange(other.made_, false)) {}

StagedFolder::~StagedFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
  if (made_) rmdir(target_.c_str());  // fails where something is inside
}

absl::Status StagedFolder::Publish() {
  std::error_code error;
  std::string old;
  if (fs::symlink_status(target_, error).type() != fs::file_type::not_found) {
    old = FreeName(target_, "old");
    if (rename(target_.c_str(), old.c_str()) != 0)
      return ErrnoStatus(errno, target_ + ": putting what is there aside");
  }
  if (rename(path_.c_str(), target_.c_str()) != 0) {
    const int reason = errno;
    if (!old.empty()) rename(old.c_str(), target_.c_str());
    return ErrnoStatus(reason, target_ + ": putting the folder in its place");
  }
  path_.clear();
  if (!old.empty()) fs::remove_all(old, error);
  return absl::OkStatus();
}

absl::Status StagedFolder::Merge() {
  std::error_code error;
  std::vector<std::pair<fs::path, fs::path>> moves;
  for (fs::recursive_directory_iterator entry(path_, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path to = target_ / entry->path().lexically_relative(path_);
    const bool folder = entry->is_directory(error);
    if (folder) fs::create_directories(to, error);
    if (error) return absl::InvalidArgumentError(absl::StrCat(to.string(), ": ", error.message()));
    std::error_code absent;
    if (!folder && fs::is_directory(to, absent))
      return absl::InvalidArgumentError(to.string() +
                                        ": is a folder, and a file of this name is to be written");
    if (!folder) moves.emplace_back(entry->path(), to);
  }
  if (error) return absl::InternalError(absl::StrCat(path_, ": ", error.message()));
  for (const auto& [from, to] : moves)
    if (rename(from.c_str(), to.c_str()) != 0)
      return ErrnoStatus(errno, to.string() + ": putting the file in its place");
  fs::remove_all(path_, error);
  path_.clear();
  return absl::OkStatus();
}

bool HoldsOnly(const std::string& folder, std::initializer_list<std::string_view> names) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!entry->is_regular_file(error) ||
        std::find(names.begin(), names.end(), name) == names.end())
      return false;
  }
  return !error;
}

}  // namespace dtranspile::io
