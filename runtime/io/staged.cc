#include "runtime/io/staged.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/io/errno_status.h"
#include "runtime/io/filesystem.h"
#include "runtime/io/kept_files.h"

namespace dtranspile::io {
namespace {

constexpr char kPrefix[] = ".dtranspile-unfinished-";
constexpr char kContent[] = "/content";
// Of StagedFiles: everything is there, and only renames are missing.
constexpr char kComplete[] = "/complete";

// Flushes a file or folder itself. Some file systems have no such operation for folders.
absl::Status Sync(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) return ErrnoStatus(errno, path + ": opening");
  const int failed = fsync(descriptor) != 0 && errno != EINVAL ? errno : 0;
  close(descriptor);
  return failed == 0 ? absl::OkStatus() : ErrnoStatus(failed, path + ": writing");
}

// Files before the folder that holds them: a name must not be on disk before its content is.
absl::Status CollectTree(const std::string& folder, std::vector<std::string>& paths) {
  DT_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesIn(folder));
  for (const std::string& name : names) {
    std::string path = absl::StrCat(folder, "/", name);
    DT_ASSIGN_OR_RETURN(const Entry entry, LookAtLink(path));
    if (entry == Entry::kFolder) DT_RETURN_IF_ERROR(CollectTree(path, paths));
    if (entry == Entry::kFile) paths.push_back(std::move(path));
  }
  paths.push_back(folder);
  return absl::OkStatus();
}

// A few files are flushed by themselves; for many, each of which would be an entry in the journal
// of the file system, that is flushed once.
absl::Status SyncTree(const std::string& folder) {
  constexpr size_t kFew = 32;
  std::vector<std::string> paths;
  DT_RETURN_IF_ERROR(CollectTree(folder, paths));
  if (paths.size() > kFew) {
    const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return ErrnoStatus(errno, folder + ": opening");
    const int failed = syncfs(descriptor) != 0 ? errno : 0;
    close(descriptor);
    return failed == 0 ? absl::OkStatus() : ErrnoStatus(failed, folder + ": writing");
  }
  for (const std::string& path : paths) DT_RETURN_IF_ERROR(Sync(path));
  return absl::OkStatus();
}

// Exchanges two folders at one instant; the number of the error, or 0.
int ExchangeNames(const std::string& a, const std::string& b) {
  return renameat2(AT_FDCWD, a.c_str(), AT_FDCWD, b.c_str(), RENAME_EXCHANGE) == 0 ? 0 : errno;
}

// File systems that cannot exchange are told apart from errors, since there is a remedy.
absl::Status ExchangeError(int error, const std::string& target) {
  for (int unable : {EINVAL, ENOSYS, EOPNOTSUPP, EXDEV})
    if (error == unable)
      return absl::FailedPreconditionError(absl::StrCat(
          target, ": is there, and this file system cannot exchange two folders at one instant (",
          ErrnoStatus(error, "renameat2").message(), "); remove it, or name a new folder"));
  return ErrnoStatus(error, target + ": exchanging what is there for what is new");
}

// The folder for what is to be at `target`. A name has at most 255 bytes, and is cut between
// characters.
absl::StatusOr<OwnedFolder> MakeBeside(const std::string& target) {
  constexpr size_t kMostOfName = 200;
  std::string base = BaseOf(target);
  if (base.size() > kMostOfName) {
    size_t end = kMostOfName;
    while (end > 0 && (static_cast<unsigned char>(base[end]) & 0xc0) == 0x80) --end;
    base.resize(end);
  }
  StagedFiles::Recover(ParentOf(target));
  return OwnedFolder::Make(ParentOf(target), absl::StrCat(kPrefix, base, "-"),
                           absl::StrCat("what is to be ", target, ", not complete yet"));
}

// A path that ends with a name, by which the folder can be renamed.
absl::StatusOr<std::string> WithoutDots(const std::string& named) {
  const std::string base = BaseOf(named);
  if (base != "." && base != "..") return absl::StrCat(ParentOf(named), "/", base);
  char resolved[PATH_MAX];
  if (realpath(named.c_str(), resolved) == nullptr) return ErrnoStatus(errno, named);
  return std::string(resolved);
}

// Whether a process that works in `folder` or below it would find itself elsewhere.
bool HoldsWorkingFolder(const std::string& folder) {
  struct stat wanted, here, above;
  if (stat(folder.c_str(), &wanted) != 0 || stat(".", &here) != 0) return false;
  for (std::string path = "."; path.size() < 4096; here = above) {
    if (here.st_dev == wanted.st_dev && here.st_ino == wanted.st_ino) return true;
    path += "/..";
    if (stat(path.c_str(), &above) != 0 ||
        (above.st_dev == here.st_dev && above.st_ino == here.st_ino))
      return false;
  }
  return false;
}

// Mount points cannot be renamed; kernels that do not tell are left to the rename itself.
bool IsMountRoot(const std::string& folder) {
  struct statx info;
  return statx(AT_FDCWD, folder.c_str(), 0, STATX_TYPE, &info) == 0 &&
         (info.stx_attributes_mask & info.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

// What a killed StagedFiles::Publish had promised.
void FinishFiles(const std::string& owned) {
  const absl::StatusOr<Entry> complete = LookAtLink(owned + kComplete);
  const absl::StatusOr<std::vector<std::string>> names = NamesIn(owned + kContent);
  if (!complete.ok() || *complete != Entry::kFile || !names.ok()) return;
  for (const std::string& name : *names)
    rename(absl::StrCat(owned, kContent, "/", name).c_str(),
           absl::StrCat(ParentOf(owned), "/", name).c_str());
}

}  // namespace

// Tries every 2 ms, 5000 times: flock() itself would wait without an end.
FolderLock::FolderLock(const std::string& folder, Kind kind)
    : descriptor_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  constexpr int kAttempts = 5000;
  constexpr timespec kPause = {0, 2'000'000};
  for (int attempt = 0; descriptor_ >= 0 && attempt < kAttempts; ++attempt) {
    if (flock(descriptor_, (kind == kAlone ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0) return;
    if (errno != EWOULDBLOCK) return;
    nanosleep(&kPause, nullptr);
  }
}

FolderLock::~FolderLock() {
  if (descriptor_ >= 0) close(descriptor_);
}

StagedFolder::MadeFolders::~MadeFolders() {
  for (auto path = paths.rbegin(); path != paths.rend(); ++path) rmdir(path->c_str());
}

// The new folder is made beside the place that it will take, on the same file system, so that one
// rename publishes it. What can be refused is refused here, before any work: a file in the place, a
// link that leads nowhere, a place that cannot be exchanged.
absl::StatusOr<StagedFolder> StagedFolder::Create(const std::string& named) {
  DT_ASSIGN_OR_RETURN(const std::string path, WithoutDots(named));
  DT_ASSIGN_OR_RETURN(std::string target, FollowLinks(path));
  DT_ASSIGN_OR_RETURN(const Entry itself, LookAtLink(path));
  DT_ASSIGN_OR_RETURN(const Entry entry, Look(target));
  if (itself == Entry::kLink && entry == Entry::kNone)
    return absl::InvalidArgumentError(named +
                                      ": is a link that leads nowhere; nothing is replaced");
  if (entry != Entry::kNone && entry != Entry::kFolder)
    return absl::InvalidArgumentError(named + ": is there, and is no folder; nothing is replaced");
  MadeFolders above;
  DT_RETURN_IF_ERROR(MakeFolders(ParentOf(target), &above.paths));
  DT_ASSIGN_OR_RETURN(OwnedFolder owned, MakeBeside(target));
  StagedFolder staged(std::move(target), std::move(above), std::move(owned));
  if (entry == Entry::kFolder) DT_RETURN_IF_ERROR(staged.CheckPlace());
  if (mkdir(staged.path_.c_str(), 0777) != 0)
    return ErrnoStatus(errno, staged.path_ + ": making the folder");
  return staged;
}

// Tries an exchange with two empty folders of our own: whether a file system can do it is known by
// trying only.
absl::Status StagedFolder::CheckPlace() const {
  if (IsMountRoot(target_))
    return absl::FailedPreconditionError(
        target_ +
        ": is the root of a file system, and cannot be exchanged for a new folder; name "
        "a folder in it");
  if (HoldsWorkingFolder(target_))
    return absl::FailedPreconditionError(
        target_ +
        ": holds the working folder, and is exchanged for a new one; name another one, "
        "or a folder in it");
  DT_ASSIGN_OR_RETURN(const std::vector<std::string> names, NamesIn(target_));
  if (names.empty()) return absl::OkStatus();
  const std::string a = owned_.path() + "/a", b = owned_.path() + "/b";
  if (mkdir(a.c_str(), 0700) != 0 || mkdir(b.c_str(), 0700) != 0)
    return ErrnoStatus(errno, a + ": making the folder");
  const int error = ExchangeNames(a, b);
  rmdir(a.c_str());
  rmdir(b.c_str());
  return error == 0 ? absl::OkStatus() : ExchangeError(error, target_);
}

// The rename itself is on disk when the folder that holds the name is.
absl::Status StagedFolder::SyncPlace() const {
  DT_RETURN_IF_ERROR(Sync(ParentOf(target_)));
  for (const std::string& folder : above_.paths) DT_RETURN_IF_ERROR(Sync(ParentOf(folder)));
  return absl::OkStatus();
}

absl::Status StagedFolder::TakePlace() {
  CopyOwnerAndMode(target_, path_);
  // A folder may take the place of an empty one, and of nothing else.
  if (rename(path_.c_str(), target_.c_str()) == 0) return SyncPlace();
  if (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR)
    return absl::AlreadyExistsError(target_ + ": is there already; nothing is replaced");
  return ErrnoStatus(errno, target_ + ": putting the folder in its place");
}

// Signals that would end the process wait meanwhile: content and name are both there, or neither.
absl::Status StagedFolder::PublishNew() {
  DT_RETURN_IF_ERROR(SyncTree(path_));
  const EndingSignalsHeld held;
  return TakePlace();
}

// Exchanges what is there for the new folder, if `accept` agrees with what is there, and with what
// came out: between the look and the exchange another process may have put something else in the
// place, which then goes back.
absl::Status StagedFolder::PublishOver(
    const std::function<absl::Status(const std::string& old)>& accept) {
  DT_RETURN_IF_ERROR(SyncTree(path_));
  const EndingSignalsHeld held;
  // Others may take the place, and leave it, between two calls.
  constexpr int kAttempts = 1000;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    absl::Status status = TakePlace();
    if (!absl::IsAlreadyExists(status)) return status;
    status = accept(target_);
    const bool there = LookAtLink(target_).value_or(Entry::kNone) != Entry::kNone;
    if (!there) continue;
    if (!status.ok()) return status;
    const int error = ExchangeNames(path_, target_);
    if (error == ENOENT) continue;
    if (error != 0) return ExchangeError(error, target_);
    // What came out is another one than was looked at, where somebody was in between.
    status = accept(path_);
    if (status.ok()) return SyncPlace();
    ExchangeNames(path_, target_);
    return status;
  }
  return absl::UnavailableError(target_ + ": comes and goes");
}

// Replaces a folder, keeping those of its files that the new one does not supersede: these are
// linked into the new folder first, so that after the exchange both old and new ones are there at
// once. What a writer added meanwhile is moved afterwards.
absl::Status StagedFolder::Into(const std::function<bool(const std::string& name)>& superseded,
                                bool& placed) {
  DT_RETURN_IF_ERROR(SyncTree(path_));
  const EndingSignalsHeld held;
  const absl::Status taken = TakePlace();
  if (!absl::IsAlreadyExists(taken)) return taken;
  KeptFiles kept(target_, path_, superseded);
  DT_RETURN_IF_ERROR(kept.Link());
  for (const std::string& folder : kept.folders()) DT_RETURN_IF_ERROR(Sync(folder));
  if (const int error = ExchangeNames(path_, target_); error != 0)
    return ExchangeError(error, target_);
  placed = true;
  kept.MoveLate(path_, target_);
  return SyncPlace();
}

// Where nothing was placed the new files are not thrown away with the error: they stay beside the
// target, and the message says where.
absl::Status StagedFolder::PublishInto(
    const std::function<bool(const std::string& name)>& superseded) {
  bool placed = false;
  absl::Status status = Into(superseded, placed);
  if (status.ok() || placed) return status;
  const std::string suffix = owned_.path().substr(owned_.path().rfind('-'));
  const std::string rescued = absl::StrCat(target_, ".unpublished", suffix);
  if (rename(path_.c_str(), rescued.c_str()) != 0) return status;
  return absl::Status(status.code(),
                      absl::StrCat(status.message(), "; the new files are in ", rescued));
}

StagedFiles::StagedFiles(std::vector<std::string> targets, OwnedFolder owned)
    : targets_(std::move(targets)), owned_(std::move(owned)) {
  for (const std::string& target : targets_)
    paths_.push_back(absl::StrCat(owned_.path(), kContent, "/", BaseOf(target)));
}

// Several files of one folder that are replaced together. They are written into a folder of ours
// beside them.
absl::StatusOr<StagedFiles> StagedFiles::Create(const std::vector<std::string>& named) {
  std::vector<std::string> targets;
  for (const std::string& name : named) {
    DT_ASSIGN_OR_RETURN(std::string target, FollowLinks(name));
    DT_ASSIGN_OR_RETURN(const Entry entry, LookAtLink(target));
    if (entry == Entry::kFolder)
      return absl::InvalidArgumentError(name + ": is a folder; name a file");
    if (entry != Entry::kNone && entry != Entry::kFile)
      return absl::InvalidArgumentError(name + ": is there, and is no file; nothing is replaced");
    if (!targets.empty() && ParentOf(target) != ParentOf(targets[0]))
      return absl::InvalidArgumentError(absl::StrCat(name, ": leads to another folder than ",
                                                     named[0], "; both are replaced together"));
    targets.push_back(std::move(target));
  }
  DT_ASSIGN_OR_RETURN(OwnedFolder owned, MakeBeside(targets[0]));
  if (mkdir((owned.path() + kContent).c_str(), 0700) != 0)
    return ErrnoStatus(errno, owned.path() + ": making a folder there");
  return StagedFiles(std::move(targets), std::move(owned));
}

// One file is one rename. Several are renamed after a mark says that all are complete: whoever
// finds the mark after a kill finishes the renames (Recover), so that readers see all old files or
// all new ones.
absl::Status StagedFiles::Publish() {
  for (size_t i = 0; i < targets_.size(); ++i) {
    CopyOwnerAndMode(targets_[i], paths_[i]);
    DT_RETURN_IF_ERROR(Sync(paths_[i]));
  }
  const EndingSignalsHeld held;
  if (targets_.size() == 1) return Rename();
  DT_RETURN_IF_ERROR(MarkComplete());
  const FolderLock alone(ParentOf(targets_[0]), FolderLock::kAlone);
  // One that was killed since Create is older.
  OwnedFolder::ClearLeft(ParentOf(targets_[0]), kPrefix, FinishFiles);
  return Rename();
}

// Content first, then the mark, each flushed, or the mark could be there without the content.
absl::Status StagedFiles::MarkComplete() const {
  DT_RETURN_IF_ERROR(Sync(owned_.path() + kContent));
  const std::string complete = owned_.path() + kComplete;
  const int file = open(complete.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return ErrnoStatus(errno, complete + ": making the file");
  close(file);
  return Sync(owned_.path());
}

absl::Status StagedFiles::Rename() const {
  for (size_t i = 0; i < targets_.size(); ++i)
    if (rename(paths_[i].c_str(), targets_[i].c_str()) != 0)
      return ErrnoStatus(errno, targets_[i] + ": putting the file in its place");
  return Sync(ParentOf(targets_[0]));
}

void StagedFiles::Recover(const std::string& folder) {
  OwnedFolder::ClearLeft(folder, kPrefix, [&](const std::string& left) {
    const FolderLock alone(folder, FolderLock::kAlone);
    FinishFiles(left);
  });
}

// Whether a folder may be taken for one of ours: only plain files, all with known names.
bool HoldsOnly(const std::string& folder, std::initializer_list<std::string_view> names) {
  const absl::StatusOr<std::vector<std::string>> found = NamesIn(folder);
  if (!found.ok()) return false;
  return std::all_of(found->begin(), found->end(), [&](const std::string& name) {
    const absl::StatusOr<Entry> entry = LookAtLink(absl::StrCat(folder, "/", name));
    return entry.ok() && *entry == Entry::kFile &&
           std::find(names.begin(), names.end(), name) != names.end();
  });
}

}  // namespace dtranspile::io
