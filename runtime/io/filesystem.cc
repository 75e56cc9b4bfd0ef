#include "runtime/io/filesystem.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/io/errno_status.h"

namespace dtranspile::io {
namespace {

std::string_view WithoutSlashes(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  return path;
}

Entry EntryOf(mode_t mode) {
  if (S_ISREG(mode)) return Entry::kFile;
  if (S_ISDIR(mode)) return Entry::kFolder;
  return S_ISLNK(mode) ? Entry::kLink : Entry::kOther;
}

// What is at a path, by stat (where links lead) or lstat (the link itself). Nothing there is an
// answer, not an error; a file where a folder should be on the way counts as nothing there.
absl::StatusOr<Entry> LookWith(int (*ask)(const char*, struct stat*), const std::string& path) {
  struct stat info;
  if (ask(path.c_str(), &info) == 0) return EntryOf(info.st_mode);
  if (errno == ENOENT || errno == ENOTDIR) return Entry::kNone;
  return ErrnoStatus(errno, path);
}

// The text of a link; fails where `path` is none.
absl::StatusOr<std::string> ReadLink(const std::string& path) {
  char text[PATH_MAX];
  const ssize_t length = readlink(path.c_str(), text, sizeof text);
  if (length < 0) return ErrnoStatus(errno, path);
  return std::string(text, static_cast<size_t>(length));
}

// Removes what is in an open folder, and closes it. The first reason why something stays.
int Empty(int descriptor) {
  DIR* listing = fdopendir(descriptor);
  if (listing == nullptr) return close(descriptor), errno;
  int reason = 0;
  while (const dirent* entry = readdir(listing)) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    const int inner =
        openat(descriptor, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner >= 0) reason = std::max(reason, Empty(inner));
    if (unlinkat(descriptor, entry->d_name, inner >= 0 ? AT_REMOVEDIR : 0) != 0 && errno != ENOENT)
      reason = errno;
  }
  closedir(listing);
  return reason;
}

// Of one folder on the way to the folder in question, and that one itself (`last`).
absl::Status CheckOwner(const std::string& path, bool last) {
  struct stat info;
  if (lstat(path.c_str(), &info) != 0) return ErrnoStatus(errno, path);
  if (info.st_uid != geteuid() && info.st_uid != 0)
    return absl::PermissionDeniedError(absl::StrCat(path, " belongs to another user (", info.st_uid,
                                                    "), who could put code there"));
  const bool own_group = info.st_gid == geteuid() && info.st_gid == getegid();
  const mode_t others = own_group ? S_IWOTH : S_IWGRP | S_IWOTH;
  const bool shared = (info.st_mode & others) != 0 && !S_ISLNK(info.st_mode);
  if (shared && (last || (info.st_mode & S_ISVTX) == 0))
    return absl::PermissionDeniedError(
        absl::StrCat(path, " may be written by others, who could put code there; chmod go-w it"));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Entry> Look(const std::string& path) { return LookWith(stat, path); }

absl::StatusOr<Entry> LookAtLink(const std::string& path) { return LookWith(lstat, path); }

bool IsFolder(const std::string& path) {
  const absl::StatusOr<Entry> entry = Look(path);
  return entry.ok() && *entry == Entry::kFolder;
}

std::string ParentOf(std::string_view path) {
  path = WithoutSlashes(path);
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(slash == 0 ? "/" : WithoutSlashes(path.substr(0, slash)));
}

std::string BaseOf(std::string_view path) {
  path = WithoutSlashes(path);
  return std::string(path.size() == 1 ? path : path.substr(path.rfind('/') + 1));
}

std::string EndingOf(std::string_view path) {
  const std::string base = BaseOf(path);
  const size_t dot = base.rfind('.');
  return dot == std::string::npos || dot == 0 ? "" : base.substr(dot);
}

std::string WithEnding(std::string_view path, std::string_view ending) {
  path = WithoutSlashes(path);
  return absl::StrCat(std::string(path.substr(0, path.size() - EndingOf(path).size())),
                      std::string(ending));
}

// Parents first. `made` gets the folders that were not there before, so that a caller who fails
// later can take them away again. Losing a race for a folder is no error: it is looked at again.
absl::Status MakeFolders(const std::string& path, std::vector<std::string>* made, mode_t mode) {
  DT_ASSIGN_OR_RETURN(Entry entry, Look(path));
  if (entry == Entry::kNone) {
    const std::string parent = ParentOf(path);
    if (parent != path) DT_RETURN_IF_ERROR(MakeFolders(parent, made, mode));
    const bool done = mkdir(path.c_str(), mode) == 0;
    if (done && made != nullptr) made->push_back(path);
    if (done) return absl::OkStatus();
    const int reason = errno;
    DT_ASSIGN_OR_RETURN(entry, Look(path));  // somebody else may have made it
    if (reason == EEXIST && entry == Entry::kNone)
      return absl::InvalidArgumentError(path + ": is a link that leads nowhere");
    if (entry == Entry::kNone) return ErrnoStatus(reason, path + ": making the folder");
  }
  if (entry == Entry::kFolder) return absl::OkStatus();
  return absl::InvalidArgumentError(path + ": is in the way, not a folder");
}

// Sorted: what is made of the names does not depend on the file system.
absl::StatusOr<std::vector<std::string>> NamesIn(const std::string& folder) {
  DIR* listing = opendir(folder.c_str());
  if (listing == nullptr) return ErrnoStatus(errno, folder + ": opening the folder");
  std::vector<std::string> names;
  while (const dirent* entry = readdir(listing)) {
    std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(std::move(name));
  }
  closedir(listing);
  std::sort(names.begin(), names.end());
  return names;
}

// Works on open folders (openat, unlinkat) and follows no links: nobody can lead it elsewhere by
// exchanging a folder for a link while it is at work.
absl::Status RemoveAll(const std::string& path) {
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder >= 0)
    if (const int reason = Empty(folder); reason != 0) return ErrnoStatus(reason, path);
  if ((folder >= 0 ? rmdir : unlink)(path.c_str()) == 0 || errno == ENOENT) return absl::OkStatus();
  return ErrnoStatus(errno, path + ": removing");
}

// The path at the end of a chain of links, which itself may not exist. Links of /proc (an open
// file's, say) are no texts that lead anywhere, and stay as they are.
absl::StatusOr<std::string> FollowLinks(std::string path) {
  constexpr int kMostLinks = 40;  // as the kernel
  for (int links = 0; links <= kMostLinks; ++links) {
    DT_ASSIGN_OR_RETURN(const Entry entry, LookAtLink(path));
    struct statfs system;
    if (entry != Entry::kLink ||
        (statfs(ParentOf(path).c_str(), &system) == 0 && system.f_type == PROC_SUPER_MAGIC))
      return path;
    DT_ASSIGN_OR_RETURN(const std::string to, ReadLink(path));
    path = to[0] == '/' ? to : absl::StrCat(ParentOf(path), "/", to);
  }
  return ErrnoStatus(ELOOP, path);
}

absl::StatusOr<std::string> TemporaryFolder() {
  const char* named = getenv("TMPDIR");
  const std::string path = named != nullptr && *named != '\0' ? named : "/tmp";
  const absl::StatusOr<Entry> entry = Look(path);
  if (entry.ok() && *entry == Entry::kFolder) return path;
  return absl::NotFoundError(absl::StrCat(
      "TMPDIR=",
      entry.ok() ? path + (*entry == Entry::kNone ? ": is not there" : ": is no folder")
                 : std::string(entry.status().message()),
      "; set TMPDIR to a folder that is there"));
}

// Resolves a path component by component, as the kernel would, and asks of each who may change it.
// The number of components is bounded, since links may form a loop.
absl::Status CheckPrivate(const std::string& folder) {
  // From the root down, a link by itself and then where it leads: whoever owns one of these decides
  // what is found at the end.
  std::string done, rest = folder;
  if (folder.empty() || folder[0] != '/') {
    char here[PATH_MAX];
    if (getcwd(here, sizeof here) == nullptr) return ErrnoStatus(errno, "the working folder");
    rest = absl::StrCat(here, "/", folder);
  }
  constexpr int kMostParts = 4096;
  DT_RETURN_IF_ERROR(CheckOwner("/", false));
  for (int part = 0; part < kMostParts; ++part) {
    const size_t begin = rest.find_first_not_of('/');
    if (begin == std::string::npos) return CheckOwner(done.empty() ? "/" : done, true);
    const size_t end = std::min(rest.find('/', begin), rest.size());
    const std::string name = rest.substr(begin, end - begin);
    rest.erase(0, end);
    if (name == ".") continue;
    if (name == "..") {
      done = done.empty() || ParentOf(done) == "/" ? "" : ParentOf(done);
      continue;
    }
    const std::string next = absl::StrCat(done, "/", name);
    DT_ASSIGN_OR_RETURN(const Entry entry, LookAtLink(next));
    if (entry == Entry::kNone) return absl::OkStatus();
    DT_RETURN_IF_ERROR(CheckOwner(next, false));
    if (entry != Entry::kLink) {
      done = next;
      continue;
    }
    DT_ASSIGN_OR_RETURN(const std::string to, ReadLink(next));
    if (to[0] == '/') done.clear();
    rest = absl::StrCat(to, "/", rest);
  }
  return ErrnoStatus(ELOOP, folder);
}

}  // namespace dtranspile::io
