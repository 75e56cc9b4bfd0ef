// Paths and folders, and every answer that is no exception.
#include "runtime/io/filesystem.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "test/runtime/io/temp_folder.h"

namespace dtranspile::io {
namespace {

namespace fs = std::filesystem;
using test::Spill;
using test::TempFolder;

TEST_CASE("parts of paths") {
  CHECK(ParentOf("a/b/c") == "a/b");
  CHECK(ParentOf("c") == ".");
  CHECK(ParentOf("/c") == "/");
  CHECK(ParentOf("a//b//") == "a");
  CHECK(ParentOf("/") == "/");
  CHECK(BaseOf("a/b//") == "b");
  CHECK(BaseOf("/") == "/");
  CHECK(EndingOf("a.b/c") == "");
  CHECK(EndingOf("a/.hidden") == "");
  CHECK(EndingOf("x.tar.gz") == ".gz");
  CHECK(WithEnding("a/x.pdparams", ".pdopt") == "a/x.pdopt");
  CHECK(WithEnding("a.b/x", ".pdopt") == "a.b/x.pdopt");
}

TEST_CASE("what is at a path") {
  TempFolder folder;
  Spill(folder / "file", "");
  fs::create_symlink("file", folder / "link");
  fs::create_symlink("nowhere", folder / "dangling");
  fs::create_symlink("loop", folder / "loop");
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(*Look(folder / "link") == Entry::kFile);
  CHECK(*LookAtLink(folder / "link") == Entry::kLink);
  CHECK(*Look(folder / "dangling") == Entry::kNone);
  CHECK(*LookAtLink(folder / "dangling") == Entry::kLink);
  CHECK(*Look(folder / "file/below") == Entry::kNone);
  CHECK(*Look(folder / "pipe") == Entry::kOther);
  CHECK(*Look(folder.path()) == Entry::kFolder);
  CHECK(Look(folder / "loop").status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(Look(folder / std::string(300, 'x')).status().code() == absl::StatusCode::kInvalidArgument);
  CHECK_FALSE(IsFolder(folder / "loop"));
  CHECK(*FollowLinks(folder / "link") == folder / "file");
  CHECK(*FollowLinks(folder / "dangling") == folder / "nowhere");
  CHECK(*FollowLinks(folder / "none") == folder / "none");
  CHECK(*FollowLinks("/proc/self/fd/0") == "/proc/self/fd/0");
  CHECK_FALSE(FollowLinks(folder / "loop").ok());
}

TEST_CASE("folders are made, listed and removed") {
  TempFolder folder;
  std::vector<std::string> made;
  REQUIRE(MakeFolders(folder / "a/b/c", &made).ok());
  CHECK(made == std::vector<std::string>{folder / "a", folder / "a/b", folder / "a/b/c"});
  made.clear();
  REQUIRE(MakeFolders(folder / "a/b/c", &made).ok());
  CHECK(made.empty());
  Spill(folder / "file", "x");
  fs::create_symlink("nowhere", folder / "dangling");
  CHECK_FALSE(MakeFolders(folder / "file").ok());
  CHECK_FALSE(MakeFolders(folder / "file/a").ok());
  CHECK_FALSE(MakeFolders(folder / "dangling").ok());
  CHECK_FALSE(MakeFolders(folder / ("a/" + std::string(300, 'x'))).ok());
  CHECK(*NamesIn(folder.path()) == std::vector<std::string>{"a", "dangling", "file"});
  CHECK_FALSE(NamesIn(folder / "file").ok());
  CHECK_FALSE(NamesIn(folder / "none").ok());
  fs::create_symlink(folder.path(), folder / "a/b/up");
  REQUIRE(RemoveAll(folder / "a").ok());
  CHECK(fs::exists(folder / "file"));
  REQUIRE(RemoveAll(folder / "dangling").ok());
  REQUIRE(RemoveAll(folder / "none").ok());
  CHECK(folder.entries() == 1);
}

TEST_CASE("the folder of temporary files") {
  TempFolder folder;
  Spill(folder / "file", "");
  const char* before = getenv("TMPDIR");
  const std::string kept = before ? before : "";
  setenv("TMPDIR", folder.path().c_str(), 1);
  CHECK(*TemporaryFolder() == folder.path());
  for (const std::string& bad :
       {folder / "none", folder / "file", folder / std::string(300, 'x')}) {
    setenv("TMPDIR", bad.c_str(), 1);
    const absl::Status status = TemporaryFolder().status();
    CHECK(std::string(status.message()).find("TMPDIR=" + bad) == 0);
  }
  unsetenv("TMPDIR");
  CHECK(*TemporaryFolder() == "/tmp");
  if (before) setenv("TMPDIR", kept.c_str(), 1);
}

TEST_CASE("code is run from folders only that nobody else may write") {
  TempFolder folder;
  fs::create_directories(folder / "a/b");
  CHECK(CheckPrivate(folder / "a/b").ok());
  CHECK(CheckPrivate(folder / "a/b/not/yet").ok());
  for (mode_t mode : {0777, 0775, 01777}) {
    // The group of another number than the user's may be anybody.
    if (mode == 0775 && (geteuid() != 0 || chown((folder / "a/b").c_str(), 0, 65534) != 0))
      continue;
    REQUIRE(chmod((folder / "a/b").c_str(), mode) == 0);
    CHECK(absl::IsPermissionDenied(CheckPrivate(folder / "a/b")));
  }
  // Above it, what others may not rename is fine, as in /tmp.
  REQUIRE(chown((folder / "a/b").c_str(), geteuid(), getegid()) == 0);
  REQUIRE(chmod((folder / "a/b").c_str(), 0775) == 0);
  CHECK(CheckPrivate(folder / "a/b").ok() == (geteuid() == getegid()));
  REQUIRE(chmod((folder / "a/b").c_str(), 0755) == 0);
  REQUIRE(chmod((folder / "a").c_str(), 01777) == 0);
  CHECK(CheckPrivate(folder / "a/b").ok());
  REQUIRE(chmod((folder / "a").c_str(), 0777) == 0);
  CHECK(absl::IsPermissionDenied(CheckPrivate(folder / "a/b")));
  // Through links as well, and by way of them.
  fs::create_directories(folder / "c/d");
  fs::create_symlink("../a/b", folder / "c/link");
  CHECK(absl::IsPermissionDenied(CheckPrivate(folder / "c/link")));
  fs::create_symlink(folder / "c/d", folder / "a/link");
  CHECK(absl::IsPermissionDenied(CheckPrivate(folder / "a/link")));
  fs::create_symlink("loop", folder / "loop");
  CHECK_FALSE(CheckPrivate(folder / "loop").ok());
  CHECK(CheckPrivate(folder / "c/./d/../d").ok());
  if (geteuid() != 0) return;
  REQUIRE(chown((folder / "c/d").c_str(), 65534, 65534) == 0);
  CHECK(absl::IsPermissionDenied(CheckPrivate(folder / "c/d")));
  CHECK(absl::IsPermissionDenied(CheckPrivate(folder / "c/d/not/yet")));
}

}  // namespace
}  // namespace dtranspile::io
