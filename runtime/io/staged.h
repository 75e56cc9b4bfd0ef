// What a command writes for the user, whole or not at all at every instant: it is made under a name
// of its own beside its place, flushed to the disk, and takes the place in one rename, in which a
// folder that is there is exchanged (RENAME_EXCHANGE). Jobs, exports, plans, checkpoints, fetches,
// traces, reports and single files are all written so.
//
// The name of its own is `.dtranspile-unfinished-TARGET-xxxxxx` (owned_folder.h): without Publish,
// and after it, it goes; where the process was killed, the next command that writes beside it
// removes it. Two commands that write to one place give one whole result, that of the last one.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/io/owned_folder.h"

namespace dtranspile::io {

class StagedFolder {
 public:
  // A new empty folder for `target`, whose own folders are made as well. Slashes at the end of
  // `target` mean nothing; where it is a link, the folder that it leads to is meant. What can be
  // known of reasons why it could not be put in place is said here: no right to write beside it,
  // the root of a file system, the working folder of this process, a link that leads nowhere, a
  // file, a file system that cannot exchange (where a folder is there).
  static absl::StatusOr<StagedFolder> Create(const std::string& target);

  const std::string& path() const { return path_; }

  // Where nothing or an empty folder is; kAlreadyExists otherwise.
  absl::Status PublishNew();

  // In exchange for a folder that `accept` takes (given its path, which is not the target), or as
  // PublishNew. What it says of any other is the error, and nothing has changed.
  absl::Status PublishOver(const std::function<absl::Status(const std::string& old)>& accept);

  // Into a folder that may hold other files: they stay, those of names that `superseded` takes
  // (relative, as in "0/loss.npy") go, those of the names of new ones are replaced, all at one
  // instant. (A folder of new and old files, which are the same ones by hard links, is exchanged
  // for what is there.) On failure the new files stay in a folder beside the target that the
  // message names: they may have cost hours.
  absl::Status PublishInto(const std::function<bool(const std::string& name)>& superseded = {});

 private:
  // Folders that were made, the outermost first; those that are still empty go at the end.
  struct MadeFolders {
    std::vector<std::string> paths;
    MadeFolders() = default;
    MadeFolders(MadeFolders&&) = default;
    ~MadeFolders();
  };

  StagedFolder(std::string target, MadeFolders above, OwnedFolder owned)
      : target_(std::move(target)),
        above_(std::move(above)),
        owned_(std::move(owned)),
        path_(owned_.path() + "/content") {}

  absl::Status CheckPlace() const;
  absl::Status TakePlace();
  absl::Status Into(const std::function<bool(const std::string& name)>& superseded, bool& placed);
  absl::Status SyncPlace() const;

  std::string target_;  // links followed
  MadeFolders above_;   // declared before what is inside of them
  OwnedFolder owned_;
  std::string path_;
};

// Keeps several files of a folder together, which are renamed one by one: who renames is alone, who
// reads is not disturbed. Others may hold the lock of a folder for ever (of /tmp, say): after ten
// seconds, and on file systems without locks, it goes on without.
class FolderLock {
 public:
  enum Kind { kAlone, kReading };
  FolderLock(const std::string& folder, Kind kind);
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  ~FolderLock();

 private:
  int descriptor_;
};

class StagedFiles {
 public:
  // New files for `targets`, which lie in one folder that is there. Where one is a link, the file
  // which it leads to, is meant; kInvalidArgument for what is no file.
  static absl::StatusOr<StagedFiles> Create(const std::vector<std::string>& targets);

  // Where to write the file for target `index`; there is nothing yet.
  const std::string& path(size_t index = 0) const { return paths_[index]; }

  // A file is replaced in one rename. No file system replaces several at one instant: that all of
  // them are complete is recorded first, and a process that is killed between two renames leaves
  // the rest to the next command that reads (Recover) or writes there.
  absl::Status Publish();

  // Before the files of a folder are read, under a FolderLock, that Publish may have been writing.
  static void Recover(const std::string& folder);

 private:
  StagedFiles(std::vector<std::string> targets, OwnedFolder owned);
  absl::Status MarkComplete() const;
  absl::Status Rename() const;

  std::vector<std::string> targets_, paths_;
  OwnedFolder owned_;
};

// Whether a folder holds nothing but regular files of these names: what may be replaced without
// taking away anything of another kind. False for what is no folder.
bool HoldsOnly(const std::string& folder, std::initializer_list<std::string_view> names);

}  // namespace dtranspile::io
