#include "runtime/io/kept_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/io/errno_status.h"
#include "runtime/io/filesystem.h"

namespace dtranspile::io {

void CopyOwnerAndMode(const std::string& from, const std::string& to) {
  struct stat old, fresh;
  if (stat(from.c_str(), &old) != 0 || stat(to.c_str(), &fresh) != 0 ||
      (old.st_mode & S_IFMT) != (fresh.st_mode & S_IFMT))
    return;
  const bool other = old.st_uid != fresh.st_uid || old.st_gid != fresh.st_gid;
  // Without the right to give files away they are this user's.
  if (other && lchown(to.c_str(), old.st_uid, old.st_gid) != 0) errno = 0;
  chmod(to.c_str(), old.st_mode & ALLPERMS);
}

absl::Status KeptFiles::Link(const std::string& below) {
  DT_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesIn(old_ + below));
  for (const std::string& name : names) DT_RETURN_IF_ERROR(LinkOne(absl::StrCat(below, "/", name)));
  folders_.push_back(fresh_ + below);
  return absl::OkStatus();
}

// An entry of the old folder that nothing new stands in the place of is linked into the new one:
// hard links share the file, so that nothing is copied. Folders cannot be linked and are made
// again.
absl::Status KeptFiles::LinkOne(const std::string& name) {
  const std::string from = old_ + name, to = fresh_ + name;
  struct stat info;
  if (lstat(from.c_str(), &info) != 0) return ErrnoStatus(errno, from);
  seen_.emplace(info.st_dev, info.st_ino);
  const bool folder = S_ISDIR(info.st_mode);
  DT_ASSIGN_OR_RETURN(const Entry mine, LookAtLink(to));
  if (mine != Entry::kNone) {
    if (folder != (mine == Entry::kFolder))
      return absl::InvalidArgumentError(
          absl::StrCat(from, folder ? ": is a folder, and a file" : ": is no folder, and one",
                       " of this name is to be written"));
    return folder ? Link(name) : absl::OkStatus();
  }
  if (folder) {
    if (mkdir(to.c_str(), 0700) != 0) return ErrnoStatus(errno, to + ": making the folder");
    DT_RETURN_IF_ERROR(Link(name));
    CopyOwnerAndMode(from, to);
    // One of which everything was superseded goes too.
    DT_ASSIGN_OR_RETURN(const std::vector<std::string> had, NamesIn(from));
    if (!had.empty() && rmdir(to.c_str()) == 0) folders_.pop_back();
    return absl::OkStatus();
  }
  if (superseded_ && superseded_(name.substr(1))) return absl::OkStatus();
  if (linkat(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), 0) != 0)
    return ErrnoStatus(errno,
                       from +
                           ": stands in a folder of other files, and cannot be kept by a link; "
                           "name a new folder");
  linked_.insert(name);
  return absl::OkStatus();
}

// What appeared in the old folder after it was listed, by another process, is moved behind the
// swap.
void KeptFiles::MoveLate(const std::string& old, const std::string& fresh,
                         const std::string& below) const {
  const absl::StatusOr<std::vector<std::string>> names = NamesIn(old + below);
  if (!names.ok()) return;
  for (const std::string& one : *names) {
    const std::string name = absl::StrCat(below, "/", one);
    struct stat info;
    if (lstat((old + name).c_str(), &info) != 0) continue;
    const bool seen = seen_.count({info.st_dev, info.st_ino}) > 0;
    if (seen && S_ISDIR(info.st_mode)) MoveLate(old, fresh, name);
    if (!seen)
      renameat2(AT_FDCWD, (old + name).c_str(), AT_FDCWD, (fresh + name).c_str(),
                linked_.count(name) > 0 ? 0 : RENAME_NOREPLACE);
  }
}

}  // namespace dtranspile::io
