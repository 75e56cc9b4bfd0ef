// Files and folders by path, without exceptions: the only place of the program that asks the file
// system for more than the bytes of an open file (std::filesystem throws, and is used nowhere;
// test/lint). Paths are bytes; text is never interpreted.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace dtranspile::io {

// kOther: pipes, devices, sockets.
enum class Entry { kNone, kFile, kFolder, kLink, kOther };

// What is at `path`, through links. kNone where nothing is, a file in the way of the path included.
// An error where nobody can say: no right to look, a loop of links, too long a path.
absl::StatusOr<Entry> Look(const std::string& path);
// The same of the link itself.
absl::StatusOr<Entry> LookAtLink(const std::string& path);
// Of a path that is known to be legal: false where Look fails.
bool IsFolder(const std::string& path);

// "a/b" of "a/b/c", "." of "c", "/" of "/c"; "c" of "a/b/c". Slashes at the end mean nothing.
std::string ParentOf(std::string_view path);
std::string BaseOf(std::string_view path);
// ".npy" of "a/b.npy", with the dot; empty for none, and for a name that begins with its only dot.
std::string EndingOf(std::string_view path);
std::string WithEnding(std::string_view path, std::string_view ending);

// Makes the folder and those above it. `made` gets those that were not there, the outermost first.
absl::Status MakeFolders(const std::string& path, std::vector<std::string>* made = nullptr,
                         mode_t mode = 0777);

// Names in a folder, sorted.
absl::StatusOr<std::vector<std::string>> NamesIn(const std::string& folder);

// A file, link, or folder with all that is in it; links are not followed. Nothing there is fine.
absl::Status RemoveAll(const std::string& path);

// Where the links of the last component end: `path` itself where it is none, a path where nothing
// is for a link that leads nowhere. Links of /proc (descriptors of a process) are not followed.
absl::StatusOr<std::string> FollowLinks(std::string path);

// $TMPDIR or /tmp; kNotFound, with the remedy, where that is no folder.
absl::StatusOr<std::string> TemporaryFolder();

// Whether code that lies in the folder is this user's: the folder and those above it belong to the
// user or to root, and nobody else may write there (above it: or may write, but not rename what
// others have, as in /tmp). The group of the user's own number is the user. kPermissionDenied names
// the folder that is not so. Of a folder that is not there yet those above it count.
absl::Status CheckPrivate(const std::string& folder);

}  // namespace dtranspile::io
